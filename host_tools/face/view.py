"""What the front panel shows, as plain data: fed with the firmware's events, asked by the widgets. Draws nothing."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import native
from firmware.tilt import AUTO, CLEARS, CODES, MESSAGES
from host_tools.face.features import Features
from host_tools.hil.transcript import Transcript, pounds

Event = dict[str, Any]

# A normal spin is shown for 2 s before its wins, a quick one for 0.4 s; the last reel stops well before that.
SPIN_MS, REEL_MS = 500, 210
QUICK_SPIN_MS, QUICK_REEL_MS = 120, 40
CYCLE_MS = 700
NOTE_MS = 3500

_BRIGHT = (
    "line_win", "ways_win", "scatter_win", "free_spins_begin", "free_spins_end", "coin", "note", "payout_done", "collect", "pot",
    "prize", "bowl", "wheel",
)  # fmt: skip

QUIET, HINT, WIN, ASK, ALERT = "quiet", "hint", "win", "ask", "alert"

STATES = {
    "off": ("OFF", QUIET),
    "boot": ("STARTING", HINT),
    "idle": ("READY", HINT),
    "playing": ("PLAYING", WIN),
    "choosing": ("CHOOSE", ASK),
    "gambling": ("GAMBLE", ASK),
    "offering": ("SPIN CHANCE", ASK),
    "paying": ("PAYING OUT", WIN),
    "handpay": ("HANDPAY", ALERT),
    "tilted": ("TILT", ALERT),
    "service": ("SERVICE", ASK),
    "setup": ("SET-UP", ALERT),
    "locked": ("LOCKED", ALERT),
}


@dataclass(frozen=True)
class Win:
    """One win of the spin in view. `line` counts from 0; None for scatters. `cells`: reel x rows + row."""

    text: str
    pence: int
    cells: frozenset[int]
    line: int | None = None


@dataclass(frozen=True)
class Spin:
    """Reels in motion: since when, and how long the first reel turns and each next one longer."""

    since_ms: int
    first_ms: int
    each_ms: int


class View(Features):
    """The picture of one cabinet. `packs`: name -> opened pack."""

    def __init__(self, packs: Mapping[str, native.Pack]) -> None:
        self.packs = packs
        self.game = next(iter(packs))
        self.quick_spin = self.mute = False
        self.gamble_on = True
        self.volume = 7
        self.mode = "base"
        self.log: deque[tuple[str, str]] = deque(maxlen=500)  # (text, tone); whoever shows them takes them out
        self.credit = self.bet = self.coin_value = self.level = 0
        self._transcript = Transcript(self.pack, packs)
        self._dark()

    def _dark(self) -> None:
        """What no power leaves of the picture."""
        self.state = "off"
        self._note = ("", HINT, 0)
        self.tilts: list[str] = []
        self.lock_reason = ""
        self.win = self.handpay_due = 0
        self.window: list[int] = []
        self.strips = 0  # set of strips that turns
        self.spin: Spin | None = None
        self.wins: list[Win] = []
        self.free_spins = 0
        self.multiplier = 1
        self.summary = ""  # of the round that is over
        self.options: list[tuple[int, int]] = []
        self.cursor = 0
        self.info_page = ""
        self.info_lines: list[str] = []
        self._cycle_ms = 0
        self._held: list[tuple[str, str]] = []
        self._clear_features()

    @property
    def pack(self) -> native.Pack:
        return self.packs[self.game]

    @property
    def powered(self) -> bool:
        return self.state != "off"

    # --- what comes in -------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        """One event; `t` is the rig's time in milliseconds."""
        taker = getattr(self, "_on_" + event["e"], None)
        if taker is not None:
            taker(event)
        if "credit" in event:
            self.credit = event["credit"]
        self._write(event)

    def _write(self, event: Event) -> None:
        if event["e"] in ("spin", "console", "value", "frame", "gamble_select"):
            return  # the reels, the console pane and the wheels show them
        line = self._transcript.line(event)
        if event["e"] not in ("press", "coin", "note", "query"):
            self.log.extend(self._held)
            self._held = []
        if line is None:
            return
        tone = QUIET
        if event["e"] in _BRIGHT:
            tone = WIN
        elif event["e"] == "state" and event["state"] in ("tilted", "handpay", "locked"):
            tone = ALERT
        # What a wheel or a pointer will stop at is written down when it has stopped: with the event behind it.
        shown = self._held if event["e"] in ("wheel", "gamble", "spin_chance") else self.log
        shown.append((line.split(" s  ", 1)[-1], tone))

    def console(self, line: str) -> None:
        """A line that the console printed: the only place where the settings can be read."""
        words = line.replace(",", "").split()
        if len(words) == 8 and words[0::2] == ["quick_spin", "volume", "mute", "gamble"] and words[3].isdigit():
            self.quick_spin, self.volume, self.mute = words[1] == "on", int(words[3]), words[5] == "on"
            self.gamble_on = words[7] == "on"

    def _on_query(self, event: Event) -> None:
        self.state = event["state"]
        self.lock_reason = event.get("reason", "")
        self.tilts = list(event.get("tilt", []))
        self.bet = event.get("bet", self.bet)
        self.handpay_due = event.get("handpay_due", 0) + event.get("large_win_due", 0)
        self.free_spins = event.get("free_spins_left", 0)
        self._play_game(event.get("game", self.game))
        self.mode = event.get("mode", self.mode)
        self.unit = event.get("unit", self.unit)
        self.pile = event.get("pile", self.pile)

    def _play_game(self, game: str) -> None:
        if game in self.packs and game != self.game:
            self.game = game
            self.window, self.strips, self.wins, self.summary = [], 0, [], ""
            self._clear_features()

    def _on_power(self, event: Event) -> None:
        self._dark()
        if event["on"]:
            self.state = "boot"

    def _on_state(self, event: Event) -> None:
        self.state = event["state"]
        self.tilts = list(event["tilts"])
        if self.state == "setup":  # after a RAM clear nothing of the old picture may stand
            self.window, self.wins, self.summary = [], [], ""
            self._clear_features()
        if self.state == "idle":
            self.handpay_due = 0
            self.options = []
            self.gamble = self.offer = None

    def _on_bet(self, event: Event) -> None:
        self._play_game(event.get("game", self.game))
        self.bet, self.coin_value, self.level = event["bet"], event["coin_value"], event["level"]
        self.unit, self.mode = self.coin_value * self.level, event.get("mode", "base")

    def _on_info(self, event: Event) -> None:
        self.info_page, self.info_lines = event["page"], list(event["lines"])

    def _on_coin_returned(self, event: Event) -> None:
        self.note(event["t"], f"{pounds(event['pence'])} returned", ALERT)

    def _on_note_returned(self, event: Event) -> None:
        self.note(event["t"], f"{pounds(event['pence'])} note returned", ALERT)

    def _on_note_disputed(self, event: Event) -> None:
        self.note(event["t"], f"{pounds(event['pence'])} note: please call an attendant", ALERT)

    def _on_credit_low(self, event: Event) -> None:
        self.note(event["t"], f"A play costs {pounds(event['bet'])}: insert coins or bet less", ALERT)

    def _on_autoplay_stopped(self, event: Event) -> None:
        self.note(event["t"], f"Autoplay stopped: {event['reason']}", HINT)

    def _on_due(self, event: Event) -> None:
        self.handpay_due = event["handpay_due"] + event["large_win_due"]

    def _on_handpay_paid(self, event: Event) -> None:
        self.handpay_due = 0
        self.note(event["t"], f"{pounds(event['pence'])} paid by hand", WIN)

    def _on_round(self, event: Event) -> None:
        self.game = event["game"]
        offer = self.offer
        self._new_round()
        self.offer = offer  # its pointer comes now

    def _on_round_recovered(self, event: Event) -> None:
        self.game = event["game"]
        self._new_round()

    def _new_round(self) -> None:
        self._clear_features()
        self.wins, self.summary = [], ""
        self.win, self.free_spins, self.multiplier = 0, 0, 1
        self._note = ("", HINT, 0)

    def _on_round_voided(self, event: Event) -> None:
        self._new_round()
        self.note(event["t"], "The round was voided, the bet is back in the credit", ALERT)

    def _on_spin(self, event: Event) -> None:
        self.window, self.wins = list(event["window"]), []
        self.values, self.marked = {}, frozenset()
        self.free_spins, self.strips = event["free_spins"], event.get("set", 0)
        times = (QUICK_SPIN_MS, QUICK_REEL_MS) if self.quick_spin else (SPIN_MS, REEL_MS)
        self.spin = Spin(event["t"], *times)

    def _on_window(self, event: Event) -> None:
        self.window, self.wins, self.spin = list(event["window"]), [], None
        self.free_spins, self.multiplier, self.win = event["free_spins"], event["x"], event["won"]
        self._picture(event)

    def _on_line_win(self, event: Event) -> None:
        line, count = event["index"], event["count"]
        path = self.pack.lines[line]
        cells = frozenset(reel * self.pack.rows + path[reel] for reel in range(count))
        times = f"  ×{event['x']}" if event["x"] > 1 else ""
        text = f"Line {line + 1}: {count} × {self._symbol(event)}{times}  {pounds(event['pence'])}"
        self._add_win(event, Win(text, event["pence"], cells, line))

    def _on_ways_win(self, event: Event) -> None:
        reels, symbol = event["count"], event["symbol"]
        stands = {symbol} | {wild for wild, _, mask in self.pack.wilds if mask & 1 << symbol}
        last = reels * self.pack.rows
        cells = frozenset(cell for cell, shown in enumerate(self.window[:last]) if shown in stands)
        text = f"{reels} × {self._symbol(event)}, {event['x']} ways  {pounds(event['pence'])}"
        self._add_win(event, Win(text, event["pence"], cells))

    def _on_collect(self, event: Event) -> None:
        cells = frozenset(self.values) | ({event["index"]} if event["index"] < len(self.window) else set())
        text = f"{event['count']} values collected  {pounds(event['pence'])}"
        self._add_win(event, Win(text, event["pence"], frozenset(cells)))

    def _on_pot(self, event: Event) -> None:
        if (event["name"], self.tokens.get(event["name"])) in [(name, places) for name, _, places in self.pots()]:
            self.tokens = {}
        self._add_win(event, Win(f"{_words(event['name'])} pot  {pounds(event['pence'])}", event["pence"], self.marked))

    def _on_prize(self, event: Event) -> None:
        self._add_win(event, Win(f"Prize  {pounds(event['pence'])}", event["pence"], frozenset()))

    def _on_bowl(self, event: Event) -> None:
        super()._on_bowl(event)
        pot = f" ({_words(event['name'])} pot)" if event.get("name") else ""
        self._add_win(event, Win(f"Bowl{pot}  {pounds(event['pence'])}", event["pence"], self.marked))

    def _on_gamble(self, event: Event) -> None:
        won = self.gamble["win"] if self.gamble is not None and event["count"] else 0
        super()._on_gamble(event)
        self.win += won - event["pence"]
        self.wins = []

    def _on_scatter_win(self, event: Event) -> None:
        cells = frozenset(cell for cell, symbol in enumerate(self.window) if symbol == event["symbol"])
        text = f"{event['count']} × {self._symbol(event)} anywhere  {pounds(event['pence'])}"
        self._add_win(event, Win(text, event["pence"], cells))

    def _add_win(self, event: Event, win: Win) -> None:
        self.wins.append(win)
        self.win += win.pence
        self._cycle_ms = event["t"]

    def _symbol(self, event: Event) -> str:
        return self.pack.symbols[event["symbol"]]

    def _on_choice(self, event: Event) -> None:
        self.options = [(spins, x) for spins, x in event["options"]]
        self.cursor = 0

    def _on_highlight(self, event: Event) -> None:
        self.cursor = event["option"]

    def _on_chosen(self, event: Event) -> None:
        self.options = []

    def _on_free_spins_begin(self, event: Event) -> None:
        self.free_spins, self.multiplier = event["count"], event["x"]
        self.options, self.wins = [], []
        self.frames, self.tokens, self.values = {}, {}, {}

    def _on_free_spins_added(self, event: Event) -> None:
        self.free_spins += event["count"]
        more = f"{event['count']} more free spin" + ("s" if event["count"] > 1 else "")
        self.note(event["t"], more, WIN, 900)

    def _on_free_spins_end(self, event: Event) -> None:
        self.summary = f"{event['count']} free spins won {pounds(event['pence'])}"
        self.free_spins, self.multiplier = 0, 1

    def _on_round_end(self, event: Event) -> None:
        self.win = event["award"]
        self._cycle_ms = event["t"]
        if event["award"] and not self.summary:
            self.summary = f"Win {pounds(event['award'])}"

    def note(self, now_ms: int, text: str, tone: str = HINT, for_ms: int = NOTE_MS) -> None:
        """Shows `text` in the message line for a while."""
        self._note = (text, tone, now_ms + for_ms)

    # --- what is shown -------------------------------------------------------------------------------------------

    def reel_turns(self, reel: int, now_ms: int) -> bool:
        """The reel has not stopped yet."""
        spin = self.spin
        return spin is not None and now_ms - spin.since_ms < spin.first_ms + reel * spin.each_ms

    def spinning(self, now_ms: int) -> bool:
        return self.reel_turns(self.pack.reels - 1, now_ms)

    def shown_win(self, now_ms: int) -> Win | None:
        """The win to light: the newest while the wins are counted, one after the other once the round is over."""
        if not self.wins or self.spinning(now_ms):
            return None
        if self.state != "idle":
            return self.wins[-1]
        return self.wins[(now_ms - self._cycle_ms) // CYCLE_MS % len(self.wins)]

    def lines_won(self) -> frozenset[int]:
        return frozenset(win.line for win in self.wins if win.line is not None)

    def message(self, now_ms: int) -> tuple[str, str]:
        """The message line and its tone; what needs a person comes first."""
        urgent = self._urgent()
        if urgent:
            return urgent, ALERT
        text, tone, until_ms = self._note
        if text and now_ms < until_ms:
            return text, tone
        if self.state == "gambling":
            return "Gamble this win, or collect it", ASK
        if self.state == "offering":
            return "Wager the rest of the credit for a play?", ASK
        if self.state == "choosing":
            return "Choose your free spins: left, right, then start", ASK
        win = self.shown_win(now_ms)
        if win is not None:
            total = f"     {self.summary}" if self.state == "idle" and len(self.wins) > 1 else ""
            return win.text + total, WIN
        if self.state == "idle" and self.summary:
            return self.summary, WIN
        return self._calm(now_ms)

    def _urgent(self) -> str:
        if self.state == "tilted":
            return tilt_text(self.tilts)
        if self.state == "handpay":
            due = f"{pounds(self.handpay_due)} is" if self.handpay_due else "A win is"
            return f"{due} paid by hand: call the attendant (key k)"
        if self.state == "setup":
            return "No configuration: technician key, then type setup at the console"
        if self.state == "locked":
            return self.lock_reason or "Critical memory cannot be read"
        return ""

    def _calm(self, now_ms: int) -> tuple[str, str]:
        if self.state == "off":
            return "The mains switch is off", QUIET
        if self.state == "boot":
            return "Waiting for the devices", QUIET
        if self.state == "service":
            return "Technician key turned: nothing can be played", ASK
        if self.state == "paying":
            return "Take your coins", WIN
        if self.state == "playing":
            return ("Good luck" if not self.in_feature else "Free spins"), QUIET
        if self.credit < self.bet:
            return "Insert coins", HINT
        return "Press start", HINT

    @property
    def in_feature(self) -> bool:
        """Free spins are played, or the last of them is shown."""
        return self.multiplier > 1 or self.free_spins > 0


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def tilt_text(tilts: Sequence[str]) -> str:
    """Code and message of each tilt, and the key that clears it where it does not go by itself."""
    texts = []
    for name in tilts:
        key = CLEARS.get(name, AUTO)
        remedy = "" if key == AUTO else f" ({key} key)"
        texts.append(f"E{CODES[name]} {MESSAGES[name]}{remedy}" if name in CODES else name)
    return "   ".join(texts) or "Tilt"
