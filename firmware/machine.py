"""The machine: what the cabinet does with what its devices report, and when it may play, accept money or pay.

One `poll` a turn of the main loop. The state is derived, not stored: from tilts, keys, what is owed and what is under way,
so it cannot disagree with them (README.md has the table).
"""

from firmware import events
from firmware.buttons import Buttons
from firmware.doors import NAMES as DOORS
from firmware.doors import Doors
from firmware.money import sorter
from firmware.money.amounts import pounds
from firmware.money.coins_in import CoinsIn
from firmware.money.em_meters import EmMeters
from firmware.money.hoppers import Hoppers
from firmware.money.ledger import OWED
from firmware.money.notes_in import NOTHING, NotesIn
from firmware.money.payout import Payout
from firmware.play.info import InfoPages
from firmware.play.play import Play, note_program
from firmware.rng import generator as rng
from firmware.rng.health import TILT_NAMES as RNG_TILTS
from firmware.store import keys
from firmware.test_mode import TestMode
from firmware.tilt import Tilts
from hal.panel.wiring import LAMPS

BOOT = "boot"
IDLE = "idle"
PLAYING = "playing"
CHOOSING = "choosing"
GAMBLING = "gambling"  # the player may gamble a win
OFFERING = "offering"  # the player may wager a credit below the cost of a play
PAYING = "paying"
HANDPAY = "handpay"
TILTED = "tilted"
SERVICE = "service"
SETUP = "setup"  # the memory holds no configuration

BOOT_MS = 3000  # devices that have not answered by then are missing
LAMPS_MS = 100
CAUSES_MS = 50  # from one look at what holds without an event to the next; what comes with an event is seen at once


class Machine:
    """Brings devices, money and play together.

    `devices`: object with panel, acceptor, hoppers, entropy (see main.py). `packs`: name -> opened pack. `show`: called
    with a dict for everything that a display or a rig may want to see.
    """

    def __init__(self, books, devices, packs, show, now_ms: int):
        self._books = books
        self._devices = devices
        self._panel = devices.panel
        self._show = show
        self._started_ms = now_ms
        self.tilts = Tilts(books)
        self.generator = rng.Generator(devices.entropy)
        self._rng_fault = 0  # the last that was logged
        self.play = Play(books, packs, show)
        self.hoppers = Hoppers(books, devices.hoppers, self.tilts, show)
        self.notes = NotesIn(books, self.tilts, show, self._note_room)
        self._sorter = sorter.Sorter(devices.acceptor, self.hoppers)
        self.payout = Payout(books, self.hoppers, self.tilts, show)
        self.em_meters = EmMeters(books, devices.panel, self.tilts)
        self.test = TestMode(books, devices.panel, devices.acceptor, self.payout, LAMPS)
        self.coins = CoinsIn(books, devices.acceptor, self.tilts, self.test, show)
        self.doors = Doors(books, devices.panel, show)
        self.info = InfoPages(self.play, show)
        self.buttons = Buttons(self, devices.panel, show)
        self.panel_online = False  # as its events told last
        self.state = BOOT
        self._booted = False
        self._service = False
        self._wager = 0  # pence of the play whose seed is being drawn
        self._seed = b""  # drawn, and not yet played
        self._offered = 0  # pence that a spin chance was offered for
        self._due = 0
        self._due_sequence = -1  # of the journal, when what is due was last looked up
        self._coins_below = 0  # coins are accepted up to this credit
        self._notes_below = 0  # credit that no note may lead beyond
        self._note_kind = 0  # of the acceptor that the driver on the note line is for (config.py)
        self._note_key = b""
        self._unaccepted = False  # the games are not those that a technician has accepted
        self._lamps_ms = 0
        self._causes_ms = -CAUSES_MS  # when the causes of automatic tilts were last looked at
        self._power_up(packs, now_ms)

    def _power_up(self, packs, now_ms: int) -> None:
        note_program(self._books, packs, now_ms)
        self._audit(now_ms)
        self._apply_config(now_ms)
        self.em_meters.recover(now_ms)
        self.payout.recover(now_ms)
        self.play.recover(now_ms)
        self._first_game(now_ms)

    # --- the turn of the loop ------------------------------------------------------------------------------------

    def poll(self, now_ms: int) -> None:
        self._panel_events(now_ms)
        if self.coins.poll(now_ms):
            self._causes_ms = -CAUSES_MS
        self.generator.poll(now_ms)
        self.payout.poll(now_ms)
        if self._books.config.complete:
            self.em_meters.poll(now_ms, self.panel_online)
        if now_ms - self._causes_ms >= CAUSES_MS:
            self._causes_ms = now_ms
            self._follow_causes(now_ms)
        self._update_state()
        self.notes.poll(now_ms)
        self.test.poll(now_ms)
        if self.state in (TILTED, SERVICE):
            if not self.payout.testing:
                self.payout.stop()
        elif self.state == PLAYING and self._continue_play(now_ms):
            self._update_state()
        if self.play.take_fault():
            self._latch("program", now_ms)
        self.info.poll()
        self._enable_acceptors()
        if now_ms - self._lamps_ms >= LAMPS_MS:
            self._lamps_ms = now_ms
            if self.test.kind != "lamps":
                self.buttons.set_lamps(now_ms)

    def _continue_play(self, now_ms: int) -> bool:
        """False when there was nothing to do yet."""
        if self._seed:  # a turn behind the draw, so that neither turn is long
            seed, wager, self._seed, self._wager = self._seed, self._wager, b"", 0
            self.play.begin(seed, wager, now_ms)
        elif self._wager:
            self._seed = self.generator.seed()
            return False
        elif self.play.round is None:
            self.start_play(now_ms)  # the next of autoplay
        else:
            return self.play.poll(now_ms)
        return True

    def drawing(self) -> bool:
        """A player has pressed start and waits for the outcome to be committed."""
        return self._wager > 0

    def _derive_state(self) -> str:
        if not self._books.config.complete:
            return SETUP
        if not self._booted:
            return BOOT
        if self.tilts.any():
            return TILTED
        if self._service:
            return SERVICE
        if self.payout.active():
            return PAYING
        if self.due_by_hand() and self.play.round is None:
            return HANDPAY
        if self.play.choosing():
            return CHOOSING
        if self.play.gambling():
            return GAMBLING
        if self._wager or self.play.round is not None or self.play.autoplay.running():
            return PLAYING
        return OFFERING if self._offered else IDLE

    def _update_state(self) -> None:
        state = self._derive_state()
        if state == self.state:
            return
        self.state = state
        if state in (TILTED, SERVICE, HANDPAY):
            self.play.autoplay.stop()
            self._cancel_draw()
        self._show_state()

    def _follow_causes(self, now_ms: int) -> None:
        """Automatic tilts follow their causes; until every device had its time to answer, silence is no fault."""
        if not self._books.config.complete:
            return
        if not self._booted:
            ready = self.panel_online and self.coins.online and self.generator.state == rng.READY
            ready = ready and False not in self.hoppers.online and self.payout.state != "waiting"
            ready = ready and (self.notes.online or not self.notes.fitted)
            if not ready and now_ms - self._started_ms < BOOT_MS:
                return
            self._booted = True
        follow = self.tilts.follow
        for door in DOORS:
            follow("door_" + door, self._panel.online and not self._panel.closed(door), now_ms)
        self.hoppers.follow_levels(now_ms)
        self._sorter.follow()
        self._fit_notes()
        self.notes.follow(now_ms)
        follow("panel_offline", not self.panel_online, now_ms)
        follow("acceptor_offline", not self.coins.online, now_ms)
        follow("hopper_offline", self.payout.missing(), now_ms)
        follow("program_new", self._unaccepted, now_ms)
        self._follow_generator(now_ms)

    def _follow_generator(self, now_ms: int) -> None:
        """One tilt for what stops the random generator, and a line in the log when that changes."""
        present, fault = self.generator.tilt(), self.generator.fault
        if fault != self._rng_fault:
            self._rng_fault = fault
            code = events.RNG_ALARM if fault else events.RNG_RECOVERED
            self._books.transaction(now_ms).event(code, fault).commit()
        for name in RNG_TILTS:
            self.tilts.follow(name, name == present, now_ms)

    def change_entropy(self, source) -> None:
        """Begins anew with another random device."""
        self._cancel_draw()
        self.generator = rng.Generator(source)

    def show_picture(self) -> None:
        """Tells somebody who has just begun to watch how things stand."""
        self._show_state()
        self.play.show_picture()
        if self._offered:
            self.show_offer()

    def _show_state(self) -> None:
        self._show({"e": "state", "state": self.state, "tilts": self.tilts.active()})
        if self.state == HANDPAY:
            value, reclaimable = self._books.ledger.value, self.payout.reclaimable()
            due = {"e": "due", "handpay_due": value("handpay_due"), "large_win_due": value("large_win_due")}
            due["reclaimable"] = reclaimable
            self._show(due)

    # --- devices -------------------------------------------------------------------------------------------------

    def _panel_events(self, now_ms: int) -> None:
        found = False  # what comes with the panel itself was so before anybody looked
        while True:
            event = self._panel.event()
            if event is None:
                return
            self._panel.booked()
            kind, name = event[0], event[1] if len(event) > 1 else ""
            if kind == "press":
                if self._causes_ms < 0:  # a door or key of the same reading comes first
                    self._follow_causes(now_ms)
                    self._update_state()
                self.buttons.press(name, now_ms)
            elif kind in ("open", "close"):
                self._causes_ms = -CAUSES_MS
                self.doors.changed(kind == "open", name, found, now_ms)
            elif kind in ("turn", "unturn"):
                self._key(kind == "turn", name, found, now_ms)
            elif kind in ("online", "offline"):
                found = kind == "online"
                self._panel_presence(found, now_ms)
            self.test.input(kind, name, now_ms)

    def _panel_presence(self, online: bool, now_ms: int) -> None:
        self.panel_online = online
        self._causes_ms = -CAUSES_MS
        self._books.transaction(now_ms).event(events.DEVICE_ONLINE if online else events.DEVICE_OFFLINE, 1).commit()
        if online:
            self.doors.found_closed(now_ms)

    def in_service(self) -> bool:
        """The technician key is turned and the devices have had their time."""
        return self._service and self._booted

    def _key(self, turned: bool, name: str, found: bool, now_ms: int) -> None:
        """A key is turned or turned back. `found` turned after a power cut, it is nobody's act: it may be the turn that the
        cut interrupted, and what has come up since then nobody has seen."""
        self._causes_ms = -CAUSES_MS
        number = 0 if name == "attendant" else 1
        self._books.transaction(now_ms).event(events.KEY_TURNED if turned else events.KEY_RETURNED, number).commit()
        self._show({"e": "key", "key": name, "turned": turned})
        if name == "technician":
            self._service = turned
        if turned and not found:
            cleared = self.tilts.clear(name, now_ms)
            # One turn, one act: who clears a tilt has not yet seen what is due by hand.
            cleared = cleared or (name == "attendant" and self.notes.give_up())
            if name == "attendant" and not cleared and not self.payout.active() and self.play.round is None:
                self._pay_by_hand(now_ms)

    def technician_present(self) -> bool:
        """The technician key is turned: service mode, or a tilt in the middle of it."""
        return self._service

    def _pay_by_hand(self, now_ms: int) -> None:
        due = self.due_by_hand()
        if due:
            transaction = self._books.transaction(now_ms).set(keys.RECLAIMABLE, 0)
            for owed, paid in (("handpay_due", "handpay"), ("large_win_due", "large_win")):
                pence = self._books.ledger.value(owed)
                transaction.post(owed, -pence).post(paid, pence)
            transaction.count("handpays").event(events.HANDPAY_PAID, due).commit()
            self._show({"e": "handpay_paid", "pence": due})

    def due_by_hand(self) -> int:
        """Pence that an attendant has to pay: credit beyond what hoppers could pay, and large wins."""
        sequence = self._books.journal.sequence
        if sequence != self._due_sequence:  # the state is derived from it twice a turn
            value = self._books.ledger.value
            self._due_sequence, self._due = sequence, value("handpay_due") + value("large_win_due")
        return self._due

    def retry_payout(self, now_ms: int) -> None:
        """What hoppers still owe is tried again: somebody has refilled them (CAB-HOP-06)."""
        if self._audit(now_ms) and self.payout.payable(self.payout.reclaimable()):
            self.payout.retry(now_ms)
            self._update_state()

    def _note_room(self) -> int:
        """Pence that a note may have now, NOTHING when some condition to take one does not hold (CAB-NOT-01)."""
        return self._notes_below - self.credit() if self.state == IDLE else NOTHING

    def _enable_acceptors(self) -> None:
        """Coins and notes are taken only when every condition holds (CAB-COI-01, CAB-NOT-01)."""
        idle = self.state == IDLE
        credit = self.credit() if idle else 0
        self.notes.accept(self._notes_below - credit if idle else NOTHING)
        accept = idle and credit + self.notes.pending_pence <= self._coins_below
        self.coins.accept(self.test.takes_coins() or (accept and not self.test.coins_pending()))

    # --- configuration ---------------------------------------------------------------------------------------------

    def configured(self, now_ms: int) -> None:
        """The configuration was entered or changed. After the first set-up the cabinet boots."""
        self._books.config.reload()
        if self.state == SETUP:
            self._booted, self._started_ms = False, now_ms
        self._apply_config(now_ms)
        self._first_game(now_ms)
        self._update_state()

    def _apply_config(self, now_ms: int) -> None:
        config, journal = self._books.config, self._books.journal
        coins = config.coins()
        self._devices.acceptor.enable(["GB%03dA" % pence for pence in coins])
        self._coins_below = config.value("credit_limit") - max(coins) if coins else -1
        self._notes_below = min(config.value("credit_limit"), config.value("note_limit"))
        self._fit_notes()
        self.notes.configure(config.notes())
        self._unaccepted = journal.get(keys.PROGRAM_ACCEPTED) != journal.get(keys.PACK_HASH)
        self._causes_ms = -CAUSES_MS

    def _fit_notes(self) -> None:
        """The driver of the configured note acceptor goes on the note line. Encryption needs random bytes: with a key it
        waits until the generator has some."""
        config = self._books.config
        kind, key = config.value("note_acceptor"), config.value("note_key")
        if kind == self._note_kind and key == self._note_key:
            return
        self.notes.fitted = kind != 0
        random = self.generator.fork() if kind and key else None
        if kind and key and random is None:
            return
        self._note_kind, self._note_key = kind, key
        self.notes.fit(self._devices.fit_notes(kind, self._books.journal.get(keys.NOTE_TOKEN), key, random))
        self.notes.configure(config.notes())

    def _first_game(self, now_ms: int) -> None:
        """The configured game, unless a player still has something in the cabinet or the one selected is as good."""
        first = self._books.config.first_game(self.play.packs)
        if first and first != self.play.game and not self.at_stake() and self.play.round is None:
            self.play.select(first, now_ms)

    def at_stake(self) -> int:
        """Pence that are on the machine or owed: credit, what is being paid, the bet of an open round, a note on its way."""
        opened = self.play.round
        bet = opened.record.bet if opened is not None else 0
        return self._books.ledger.total(OWED) + bet + self.notes.pending_pence

    def no_change(self) -> str:
        """Why no setting can be changed now, "" when it can (CAB-CFG-01)."""
        if not self._service:
            return "turn the technician key first"
        if self.play.round is not None:
            return "a round is open: let it end first"
        if self.at_stake():
            return "%s is on the machine or owed: pay it first" % pounds(self.at_stake())
        return ""

    # --- play and pay-out ------------------------------------------------------------------------------------------

    def credit(self) -> int:
        return self._books.ledger.value("credit")

    def start_play(self, now_ms: int) -> None:
        """Draws for the next play. Credit below its cost is offered as a spin chance where the game has that (G6)."""
        if not self._audit(now_ms):
            return
        self.info.close()
        bet, credit = self.play.bet(), self.credit()
        if credit >= bet:
            self._draw(bet)
            return
        by_hand = not self.play.autoplay.running()
        self.play.autoplay.stop()
        if by_hand and credit and self.play.pack.spin_chance:
            self._offered = credit
            self.show_offer()
            self._update_state()  # a second button of the same turn is an answer to the offer, and finds the credit as offered
        else:
            self._show({"e": "credit_low", "credit": credit, "bet": bet})

    def show_offer(self) -> None:
        credit, bet = self._offered, self.play.bet()
        self._show({"e": "spin_chance_offer", "credit": credit, "bet": bet, "chance_ppm": credit * 1000000 // bet})

    def take_offer(self) -> None:
        """PLAY: the credit that was offered is wagered."""
        wager, self._offered = self._offered, 0
        self._draw(wager)

    def decline_offer(self) -> None:
        """NO THANKS: the credit stays."""
        self._offered = 0
        self._show({"e": "spin_chance_declined", "credit": self.credit()})
        self._update_state()

    def _draw(self, wager: int) -> None:
        self._wager = wager
        self.generator.request()
        self._update_state()

    def _cancel_draw(self) -> None:
        if self._wager:
            self._wager, self._seed = 0, b""
            self.generator.cancel()

    def cash_out(self, now_ms: int) -> None:
        if self._audit(now_ms) and self.payout.payable(self.credit()):
            self.payout.start(now_ms)
            self._update_state()

    def _audit(self, now_ms: int) -> bool:
        """Audit identity before each play and before value leaves (CAB-MTR-05); a mismatch locks the machine."""
        if self._books.ledger.discrepancy() == 0:
            return True
        self._latch("audit", now_ms)
        return False

    def program_damaged(self, now_ms: int) -> None:
        """What runs is not what was signed: nothing is played until a technician has looked."""
        self._latch("program", now_ms)

    def _latch(self, tilt: str, now_ms: int) -> None:
        transaction = self._books.transaction(now_ms)
        self.tilts.latch(tilt, transaction)
        transaction.commit()
