"""What a run looks like to a person: one line an event, money in pounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import native

Event = dict[str, Any]


def pounds(pence: int) -> str:
    return f"£{pence // 100}.{pence % 100:02d}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _percent(ppm: int) -> str:
    return f"{ppm / 10_000:.2f} %"


class Transcript:
    """Turns events into lines. The pack of the game that is played names the symbols; `pack` is that of the first, and
    `packs` are all. Events nobody needs to see give no line."""

    def __init__(self, pack: native.Pack, packs: Mapping[str, native.Pack] | None = None) -> None:
        self._pack = pack
        self._packs = packs or {}

    def line(self, event: Event) -> str | None:
        if event.get("game") in self._packs:
            self._pack = self._packs[event["game"]]
        writer = getattr(self, "_" + event["e"], None)
        text = writer(event) if writer else None
        return None if text is None else f"{event['t'] / 1000:9.3f} s  {text}"

    def _power(self, event: Event) -> str:
        return "power on" if event["on"] else f"power off ({event['reason']})"

    def _state(self, event: Event) -> str | None:
        tilts = f": {', '.join(event['tilts'])}" if event["tilts"] else ""
        return f"the cabinet is {event['state']}{tilts}"

    def _coin(self, event: Event) -> str:
        return f"coin {pounds(event['pence'])} in, credit {pounds(event['credit'])}"

    def _note(self, event: Event) -> str:
        return f"note {pounds(event['pence'])} in, credit {pounds(event['credit'])}"

    def _note_held(self, event: Event) -> str:
        return f"note {pounds(event['pence'])} {'accepted' if event['taken'] else 'not accepted'}"

    def _note_disputed(self, event: Event) -> str:
        return f"note {pounds(event['pence'])} disputed: {event['reason']}"

    def _coin_returned(self, event: Event) -> str:
        return f"coin {pounds(event['pence'])} returned"

    def _note_returned(self, event: Event) -> str:
        return f"note {pounds(event['pence'])} returned"

    def _coin_error(self, event: Event) -> str:
        return f"coin acceptor error {event['detail']}"

    def _round(self, event: Event) -> str:
        mode = "" if event.get("mode", "base") == "base" else f" of {_words(event['mode'])}"
        return f"play{mode} for {pounds(event['bet'])}, credit {pounds(event['credit'])}"

    def _spin(self, event: Event) -> str:
        left = f"   ({event['free_spins']} free spins left)" if event["free_spins"] else ""
        return "reels   " + self.window(event["window"]) + left

    def window(self, cells: Sequence[int]) -> str:
        """The window row by row, from its cells column by column."""
        pack = self._pack
        width = max(len(symbol) for symbol in pack.symbols)
        rows = [
            " ".join(f"{pack.symbols[cells[reel * pack.rows + row]]:{width}}" for reel in range(pack.reels)).rstrip()
            for row in range(pack.rows)
        ]
        return f"\n{'':20}".join(rows)

    def _line_win(self, event: Event) -> str:
        symbol = self._pack.symbols[event["symbol"]]
        times = f" x{event['x']}" if event["x"] > 1 else ""
        return f"line {event['index'] + 1} pays {pounds(event['pence'])}: {event['count']} {symbol}{times}"

    def _ways_win(self, event: Event) -> str:
        symbol = self._pack.symbols[event["symbol"]]
        return f"{event['count']} {symbol} in {event['x']} ways pay {pounds(event['pence'])}"

    def _scatter_win(self, event: Event) -> str:
        return f"{event['count']} {self._pack.symbols[event['symbol']]} pay {pounds(event['pence'])}"

    def _choice(self, event: Event) -> str:
        options = "  ".join(f"[{i + 1}] {spins} spins x{x}" for i, (spins, x) in enumerate(event["options"]))
        return f"choose your win: {options}"

    def _chosen(self, event: Event) -> str:
        return f"option {event['option'] + 1} taken"

    def _free_spins_begin(self, event: Event) -> str:
        name = _words(event.get("name", "free spins"))
        times = f" at x{event['x']}" if event["x"] > 1 else ""
        called = "" if name.lower() == "free spins" else f" of {name}"
        return f"{event['count']} free spins{called}{times}"

    def _free_spins_added(self, event: Event) -> str:
        return f"{event['count']} free spin{'s' if event['count'] > 1 else ''} more"

    def _free_spins_end(self, event: Event) -> str:
        return f"{event['count']} free spins won {pounds(event['pence'])}"

    def _place(self, cell: int) -> str:
        reel, row = divmod(cell, self._pack.rows)
        return f"reel {reel + 1} row {row + 1}"

    def _spin_chance_offer(self, event: Event) -> str:
        return (
            f"spin chance: {pounds(event['credit'])} for a play of {pounds(event['bet'])}, "
            f"chance {_percent(event['chance_ppm'])}"
        )

    def _spin_chance_declined(self, event: Event) -> str:
        return f"no thanks, the credit stays {pounds(event['credit'])}"

    def _spin_chance(self, event: Event) -> str:
        colour = "green, the play is won" if event["count"] else "red"
        return f"spin chance for {pounds(event['pence'])}: {colour}"

    def _modifier(self, event: Event) -> str:
        return "the modifier decides where the reels stop"

    def _respin(self, event: Event) -> str:
        held = " ".join(str(reel + 1) for reel in range(self._pack.reels) if event["index"] & 1 << reel)
        return f"respin, reels {held} are held"

    def _value(self, event: Event) -> str:
        return (
            f"{self._pack.symbols[event['symbol']]} on {self._place(event['index'])} carries {pounds(event['pence'])}"
        )

    def _collect(self, event: Event) -> str:
        return f"{event['count']} values collected: {pounds(event['pence'])}"

    def _pile(self, event: Event) -> str:
        return f"the pile grows to {event['count']}" + (" and wins a prize" if event["x"] else "")

    def _wheel(self, event: Event) -> str:
        return f"the wheel stops at {_words(event['name'])}"

    def _pot(self, event: Event) -> str:
        return f"{_words(event['name'])} pot pays {pounds(event['pence'])}"

    def _prize(self, event: Event) -> str:
        return f"prize of {pounds(event['pence'])}"

    def _frame(self, event: Event) -> str:
        return f"frame of level {event['count']} on {self._place(event['index'])}"

    def _shape(self, event: Event) -> str:
        return f"a symbol of {event['count'] % 256} by {event['count'] // 256} lands on {self._place(event['index'])}"

    def _bowl(self, event: Event) -> str:
        pot = f" ({_words(event['name'])} pot)" if event.get("name") else ""
        return f"bowl of level {event['count']} pays {pounds(event['pence'])}{pot}"

    def _token(self, event: Event) -> str:
        return f"token for the {_words(event['name'])} pot, {event['count']} filled"

    def _gamble_offer(self, event: Event) -> str:
        return f"{pounds(event['pence'])} can be gambled or collected; {self._segment(event)}"

    def _gamble_select(self, event: Event) -> str:
        return self._segment(event)

    def _segment(self, event: Event) -> str:
        goal = (
            f"{event['spins'] or ''} {_words(event['feature'])}".strip() if event["feature"] else pounds(event["win"])
        )
        return (
            f"{_words(event['name'])}: {pounds(event['amount'])} for {goal}, chance {_percent(event['chance_ppm'])}, "
            f"{pounds(event['banked'])} kept"
        )

    def _gamble(self, event: Event) -> str:
        return f"{pounds(event['pence'])} gambled on {_words(event['name'])}: {'green' if event['count'] else 'red'}"

    def _gamble_collect(self, event: Event) -> str:
        return f"{pounds(event['pence'])} collected"

    def _win_cap(self, event: Event) -> str:
        return f"win cap reached, {pounds(event['pence'])} not paid"

    def _round_end(self, event: Event) -> str:
        by_hand = ", to be paid by hand" if event.get("handpay") else ""
        return f"the round wins {pounds(event['award'])}{by_hand}, credit {pounds(event['credit'])}"

    def _round_recovered(self, event: Event) -> str:
        return f"a round of {pounds(event['bet'])} goes on where it stood"

    def _round_voided(self, event: Event) -> str:
        return "a round was voided and its bet refunded"

    def _credit_low(self, event: Event) -> str:
        return f"credit {pounds(event['credit'])} is less than the bet of {pounds(event['bet'])}"

    def _bet(self, event: Event) -> str:
        mode = "" if event.get("mode", "base") == "base" else f", {_words(event['mode'])}"
        return f"bet {pounds(event['bet'])} (coin {event['coin_value']}p, level {event['level']}{mode})"

    def _payout(self, event: Event) -> str:
        return f"paying {pounds(event['pence'])}"

    def _coin_out(self, event: Event) -> str:
        return f"coin {pounds(event['pence'])} out"

    def _payout_done(self, event: Event) -> str:
        unpaid = f", {pounds(event['unpaid'])} unpaid" if event["unpaid"] else ""
        return f"pay-out done{unpaid}, credit {pounds(event['credit'])}"

    def _due(self, event: Event) -> str:
        again = f", of it {pounds(event['reclaimable'])} by a refilled hopper" if event["reclaimable"] else ""
        return f"{pounds(event['handpay_due'] + event['large_win_due'])} due by hand{again}"

    def _extra_coins(self, event: Event) -> str:
        return f"{pounds(event['pence'])} left a hopper without an order"

    def _hopper_level(self, event: Event) -> str:
        return f"{event['hopper']} is {event['level']}"

    def _test_coin(self, event: Event) -> str:
        return f"test coin {pounds(event['pence'])} in"

    def _test_coin_out(self, event: Event) -> str:
        return f"test coin {pounds(event['pence'])} out"

    def _handpay_paid(self, event: Event) -> str:
        return f"{pounds(event['pence'])} paid by hand"

    def _autoplay_stopped(self, event: Event) -> str:
        return f"autoplay stopped: {event['reason']}"

    def _door(self, event: Event) -> str:
        return f"{event['door']} door {'open' if event['open'] else 'closed'}"

    def _key(self, event: Event) -> str:
        return f"{event['key']} key {'turned' if event['turned'] else 'returned'}"

    def _console(self, event: Event) -> str:
        return f"console | {event['text']}"

    def _summary(self, event: Event) -> str:
        return (
            f"books: coins in {pounds(event['coins_in'])}, notes in {pounds(event['notes_in'])}, "
            f"wagered {pounds(event['wagered'])}, won {pounds(event['won'])}, "
            f"hoppers {pounds(event['hopper_out'])}, handpay {pounds(event['handpay'])}, credit {pounds(event['credit'])}; "
            f"{event['games']} games, {event['tilts']} tilts; audit "
            + ("balances" if event["audit"] == "ok" else event["audit"])
        )
