"""The machine: what the cabinet does with what its devices report, and when it may play, accept money or pay.

One `poll` a turn of the main loop. The state is derived, not stored: from tilts, keys, what is owed and what is under way,
so it cannot disagree with them (README.md has the table).
"""

from firmware import events
from firmware.buttons import Buttons
from firmware.money import increments, sorter
from firmware.money.amounts import pounds
from firmware.money.em_meters import EmMeters
from firmware.money.hoppers import Hoppers
from firmware.money.ledger import OWED
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

ALARM_MS = 2000  # of a door that was opened, also if it is closed at once (CAB-DOR-01: at least 1.5 s)

DOORS = ("main", "cashbox", "note_box", "logic")

# Coin acceptor error codes (ccTalk header 229, A = 0) by what they mean for us.
_FRAUD_CODES = (17, 20, 23, 26, 34, 40)
_REFUSED_CODES = (1, 2, 3, 8, 24, 25)
_LOST_COIN_CODES = (6, 7, 16, 36, 39)
_FAULT_CODES = (9, 10, 11, 12, 13, 14, 15, 21, 22, 29, 30, 31, 32, 33, 35, 255)
_ACCEPT_COUNTER_MODULUS = 1 << 24


class Machine:
    """Brings devices, money and play together.

    `devices`: object with panel, acceptor, hoppers, entropy (see main.py). `packs`: name -> opened pack. `show`: called
    with a dict for everything that a display or a rig may want to see.
    """

    def __init__(self, books, devices, packs, show, now_ms: int):
        self._books = books
        self._panel = devices.panel
        self._acceptor = devices.acceptor
        self._show = show
        self._started_ms = now_ms
        self.tilts = Tilts(books)
        self.generator = rng.Generator(devices.entropy)
        self._rng_fault = 0  # the last that was logged
        self.play = Play(books, packs, show)
        self.hoppers = Hoppers(books, devices.hoppers, self.tilts, show)
        self._sorter = sorter.Sorter(devices.acceptor, self.hoppers)
        self.payout = Payout(books, self.hoppers, self.tilts, show)
        self.em_meters = EmMeters(books, devices.panel, self.tilts)
        self.test = TestMode(books, devices.panel, devices.acceptor, self.payout, LAMPS)
        self.info = InfoPages(self.play, show)
        self.buttons = Buttons(self, devices.panel, show)
        self.online = {"panel": False, "acceptor": False}
        self.state = BOOT
        self._booted = False
        self._service = False
        self._wager = 0  # pence of the play whose seed is being drawn
        self._seed = b""  # drawn, and not yet played
        self._offered = 0  # pence that a spin chance was offered for
        self._accepting = None
        self._coins_below = 0  # coins are accepted up to this credit
        self._unaccepted = False  # the games are not those that a technician has accepted
        self._lamps_ms = 0
        self._alarm_ms = -ALARM_MS  # when a door was opened last
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
        self._acceptor_events(now_ms)
        self.generator.poll(now_ms)
        self.payout.poll(now_ms)
        if self._books.config.complete:
            self.em_meters.poll(now_ms, self.online["panel"])
        if now_ms - self._causes_ms >= CAUSES_MS:
            self._causes_ms = now_ms
            self._follow_causes(now_ms)
        self._update_state()
        self.test.poll(now_ms)
        if self.state in (TILTED, SERVICE):
            if not self.payout.testing:
                self.payout.stop()
        elif self.state == PLAYING:
            self._continue_play(now_ms)
            self._update_state()
        if self.play.take_fault():
            self._latch("program", now_ms)
        self.info.poll()
        self._enable_acceptor()
        if now_ms - self._lamps_ms >= LAMPS_MS:
            self._lamps_ms = now_ms
            if self.test.kind != "lamps":
                self.buttons.set_lamps(now_ms)

    def _continue_play(self, now_ms: int) -> None:
        if self._seed:  # a turn behind the draw, so that neither turn is long
            seed, wager, self._seed, self._wager = self._seed, self._wager, b"", 0
            self.play.begin(seed, wager, now_ms)
        elif self._wager:
            self._seed = self.generator.seed()
        elif self.play.round is None:
            self.start_play(now_ms)  # the next of autoplay
        else:
            self.play.poll(now_ms)

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
            ready = self.online["panel"] and self.online["acceptor"] and self.generator.state == rng.READY
            ready = ready and False not in self.hoppers.online and self.payout.state != "waiting"
            if not ready and now_ms - self._started_ms < BOOT_MS:
                return
            self._booted = True
        follow = self.tilts.follow
        for door in DOORS:
            follow("door_" + door, self._panel.known and not self._panel.closed(door), now_ms)
        self.hoppers.follow_levels(now_ms)
        self._sorter.follow()
        follow("panel_offline", not self.online["panel"], now_ms)
        follow("acceptor_offline", not self.online["acceptor"], now_ms)
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
                self._door(kind == "open", name, found, now_ms)
            elif kind in ("turn", "unturn"):
                self._key(kind == "turn", name, now_ms)
            elif kind in ("online", "offline"):
                found = kind == "online"
                self._device("panel", found, 1, now_ms)
                if found:
                    self._doors_found_closed(now_ms)
            self.test.input(kind, name, now_ms)

    def _device(self, name: str, online: bool, number: int, now_ms: int) -> None:
        self.online[name] = online
        self._causes_ms = -CAUSES_MS
        code = events.DEVICE_ONLINE if online else events.DEVICE_OFFLINE
        transaction = self._books.transaction(now_ms).event(code, number)
        counter = self._acceptor.last_counter
        if name == "acceptor" and online and counter is not None and not self._books.journal.get(keys.ACCEPTOR_COUNTER):
            transaction.set(
                keys.ACCEPTOR_COUNTER, bytes([counter])
            )  # met for the first time: what it shows is not ours
        transaction.commit()

    def _doors_found_closed(self, now_ms: int) -> None:
        """A door that was closed while nobody looked is told by no event."""
        for door in DOORS:
            if self._panel.closed(door):
                self._door(False, door, True, now_ms)

    def _door(self, is_open: bool, name: str, found: bool, now_ms: int) -> None:
        """Each door has its event and its meter (CAB-DOR-03). `found`: at power-up, or when the panel came back."""
        self._causes_ms = -CAUSES_MS
        transaction = self._books.transaction(now_ms)
        mask = self._books.journal.get_int(keys.DOORS_OPEN)
        bit = 1 << DOORS.index(name)
        was_open = bool(mask & bit)
        if was_open == is_open:
            return  # the state before the power went; already counted
        transaction.set(keys.DOORS_OPEN, mask | bit if is_open else mask & ~bit)
        opened = events.DOOR_FOUND_OPEN if found else events.DOOR_OPEN
        transaction.event(opened if is_open else events.DOOR_CLOSED, DOORS.index(name))
        if is_open:
            transaction.count("door_" + name)
            self._alarm_ms = now_ms
            self._show({"e": "sound", "sound": "door_alarm", "ms": ALARM_MS})
        else:
            transaction.zero("games_since_door")
        transaction.commit()
        self._show({"e": "door", "door": name, "open": is_open})

    def alarm_ms(self, now_ms: int) -> int:
        """How long ago a door was opened, -1 when it was closed again and its alarm is over."""
        since_ms = now_ms - self._alarm_ms
        return since_ms if since_ms < ALARM_MS or self._books.journal.get_int(keys.DOORS_OPEN) else -1

    def in_service(self) -> bool:
        """The technician key is turned and the devices have had their time."""
        return self._service and self._booted

    def _key(self, turned: bool, name: str, now_ms: int) -> None:
        self._causes_ms = -CAUSES_MS
        number = 0 if name == "attendant" else 1
        self._books.transaction(now_ms).event(events.KEY_TURNED if turned else events.KEY_RETURNED, number).commit()
        self._show({"e": "key", "key": name, "turned": turned})
        if name == "technician":
            self._service = turned
        if turned:
            cleared = self.tilts.clear(name, now_ms)
            # One turn, one act: who clears a tilt has not yet seen what is due by hand.
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
        return self._books.ledger.value("handpay_due") + self._books.ledger.value("large_win_due")

    def retry_payout(self, now_ms: int) -> None:
        """What hoppers still owe is tried again: somebody has refilled them (CAB-HOP-06)."""
        if self._audit(now_ms) and self.payout.payable(self.payout.reclaimable()):
            self.payout.retry(now_ms)
            self._update_state()

    def _acceptor_events(self, now_ms: int) -> None:
        while True:
            event = self._acceptor.event()
            if event is None:
                return
            kind = event[0]
            if kind == "coin":
                self._coin(event, now_ms)
            elif kind in ("coin_error", "coins_lost"):
                self._coin_trouble(kind, event, now_ms)
            elif kind == "device_reset":
                self._acceptor_reset(event[1], now_ms)
            elif kind in ("online", "offline"):
                self._device("acceptor", kind == "online", 2, now_ms)
            self._acceptor.booked()

    def _coin(self, event, now_ms: int) -> None:
        """Credit, device counter and the pulse to be counted land in one record (CAB-MTR-04)."""
        _, counter, pence, _, path = event
        journal = self._books.journal
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, counter)
        if self.test.coins_pending():
            self.test.coin(pence, transaction)
        else:
            transaction.post("coins_%d" % pence, pence).post("credit", pence)
            transaction.set(keys.EM_IN_PENCE, journal.get_int(keys.EM_IN_PENCE) + pence)
            sorter.fell(path, pence, transaction)
            increments.coin(journal, self.tilts, pence, transaction)
        accepted = journal.get_int(keys.ACCEPTOR_ACCEPTED)
        if accepted:
            transaction.set(keys.ACCEPTOR_ACCEPTED, accepted % _ACCEPT_COUNTER_MODULUS + 1)
        transaction.commit()
        kind = "test_coin" if self.test.coins_pending() else "coin"
        self._show({"e": kind, "pence": pence, "credit": self._books.ledger.value("credit")})

    def _coin_trouble(self, kind: str, event, now_ms: int) -> None:
        _, counter, detail = event
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, counter)
        if kind == "coins_lost":
            self._dispute(detail, transaction)
        else:
            transaction.event(events.COIN_ERROR, detail)
            self.test.coin_error(detail)
            if detail in _REFUSED_CODES:
                transaction.count("coins_refused")
            elif detail in _LOST_COIN_CODES:
                self._dispute(1, transaction)
            elif detail in _FRAUD_CODES:
                self.tilts.latch("coin_in", transaction)
            elif detail in _FAULT_CODES:
                self.tilts.latch("coin_jam", transaction)
        transaction.commit()
        self._show({"e": kind, "detail": detail})

    def _dispute(self, coins: int, transaction) -> None:
        transaction.count("coins_disputed", coins).event(events.COINS_DISPUTED, coins)
        self.tilts.latch("coins_lost", transaction)

    def _acceptor_reset(self, accepted: int, now_ms: int) -> None:
        """The acceptor has lost its event buffer. Its lifetime accept counter tells whether a coin went with it; the
        journal keeps that counter + 1, 0 while it is not known."""
        journal = self._books.journal
        known = journal.get_int(keys.ACCEPTOR_ACCEPTED)
        transaction = self._books.transaction(now_ms).set(keys.ACCEPTOR_COUNTER, b"\x00").event(events.ACCEPTOR_RESET)
        transaction.count("acceptor_resets")
        if accepted >= 0:
            missing = (accepted - (known - 1)) % _ACCEPT_COUNTER_MODULUS
            if known and missing:
                self._dispute(missing, transaction)
            transaction.set(keys.ACCEPTOR_ACCEPTED, accepted + 1)
        transaction.commit()

    def _enable_acceptor(self) -> None:
        """Coins are taken only when every condition holds (CAB-COI-01)."""
        accept = self.state == IDLE and self.credit() <= self._coins_below
        accept = self.test.takes_coins() or (accept and not self.test.coins_pending())
        if accept != self._accepting:
            self._accepting = accept
            self._acceptor.accept(accept)

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
        self._acceptor.enable(["GB%03dA" % pence for pence in coins])
        self._coins_below = config.value("credit_limit") - max(coins) if coins else -1
        self._unaccepted = journal.get(keys.PROGRAM_ACCEPTED) != journal.get(keys.PACK_HASH)
        self._causes_ms = -CAUSES_MS

    def _first_game(self, now_ms: int) -> None:
        """The configured game, unless a player still has something in the cabinet or the one selected is as good."""
        first = self._books.config.first_game(self.play.packs)
        if first and first != self.play.game and not self.at_stake() and self.play.round is None:
            self.play.select(first, now_ms)

    def at_stake(self) -> int:
        """Pence that are on the machine or owed: credit, what is being paid, and the bet of an open round."""
        opened = self.play.round
        return self._books.ledger.total(OWED) + (opened.record.bet if opened is not None else 0)

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

    def _latch(self, tilt: str, now_ms: int) -> None:
        transaction = self._books.transaction(now_ms)
        self.tilts.latch(tilt, transaction)
        transaction.commit()
