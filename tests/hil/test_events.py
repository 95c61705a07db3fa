"""Every kind of significant event is really raised, and told in words (CAB-EVT-01)."""

import hashlib
import re
import struct

import pytest

from firmware import events
from firmware.store import keys
from host_tools.cabinet import games

ROUTINE = """
open main
close main
turn attendant
unturn attendant
fault coin_acceptor error 6
wait 1s
clear coin_acceptor
turn attendant
unturn attendant
fault panel offline
wait 3s
clear panel
wait 2s
turn technician
console clock set 2026-04-01 09:00
unturn technician
fault clock battery
power off
wait 1s
power on
"""
PAYOUTS = """
coin 200
coin 100
press cash_out
wait until idle within 20s
coin 200
press cash_out for 60ms
wait 700ms
power off
power on
wait 3s
press cash_out
wait until idle within 20s
coin 200
fault hopper_100 empty 1
fault hopper_10 empty 4
press cash_out
wait 20s
clear hopper_100
clear hopper_10
turn attendant
unturn attendant
turn attendant
unturn attendant
expect state == idle
"""


def routine(story):
    return story(ROUTINE)


def payouts(story):
    return story(PAYOUTS)


def rounds(story):
    """Power fails in a round; then again, and its game is gone."""
    it = story("coin 200\nwant free_spins\npress start\nwait until choosing\npower off\npower on\nwait 1s\npower off")
    whole = it.rig.session.packs
    it.rig.session.packs = {name: data for name, data in whole.items() if name != "piggy_riches"}
    return it.tell("power on\nwait 1s")


def capped(story):
    """A game that pays a penny at most."""
    pack = bytearray(games.pack("piggy_riches"))
    sections = struct.unpack_from("<H", pack, 12)[0]
    (place,) = [
        offset
        for tag, offset, _ in (struct.unpack_from("<4sII", pack, 64 + 12 * row) for row in range(sections))
        if tag == b"GAME"
    ]
    struct.pack_into("<Q", pack, place + 16, 1)
    pack[32:64] = bytes(32)
    pack[32:64] = hashlib.sha256(pack[:32] + pack[64:]).digest()
    it = story("coin 200", packs={"piggy_riches": bytes(pack)})
    for _ in range(40):
        it.tell("press start\nwait until idle within 1m")
        if it.books()["won"]:
            break
    return it


def doubtful_pulse(story):
    """Power fails while a pulse of an electromechanical meter is under way."""
    it = story()
    it.world.acceptor.insert(100, it.rig.now_ms * 1000)
    assert it.rig.run_until(lambda: it.world.panel.pulses["em_in"] > 0, 5000)
    return it.cut()


def repaired(story):
    """A bit of one bank decays without power: in the first record, which the next start repairs."""
    it = story("coin 100\npower off")
    memory = it.rig.session.nvram.memory
    memory[len(memory) // 2 + 4] ^= 0x10
    return it.tell("power on\nwait 1s")


SERVICE = """
turn technician
wait until service
console config credit_limit £20
console period start
console test coins 5
coin 10
wait 6s
unturn technician
wait until idle
fault panel meter_unplugged em_in
coin 100
coin 100
wait 3s
clear panel
turn technician
unturn technician
fault hopper_10 runaway 1
wait 3s
clear hopper_10
turn technician
unturn technician
fault entropy stuck 7
wait 20s
clear entropy
wait 10s
power off
open cashbox
power on
close cashbox
wait until idle
turn technician
wait until service
console rng device asked
unturn technician
wait until idle
"""


def service(story):
    return story(SERVICE)


def low(story):
    it = story("wait 1s")
    it.world.hopper_10.level = 21
    return it.tell("coin 20\npress cash_out\nwait until idle within 20s\nwait 2s")


def first_set_up(story):
    """Another cabinet's first set-up: the memory's oldest events are still in the log."""
    return story("power off\nmemory commissioned\npower on\nwait until idle")


def cleared(story):
    it = story("turn technician\nopen logic\nconsole ramclear\nwait 3s")
    return it.tell("console {asked}\nwait 8s")


def new_program(story):
    it = story("power off")
    it.rig.session.packs = {name: data for name, data in it.rig.session.packs.items() if name != "dog_diner"}
    it.tell("power on\nwait 4s\nexpect tilt == program_new\nturn technician\nconsole program")
    return it.tell("console {asked}\nunturn technician\nwait until idle")


def too_much(story):
    it = story().stands_at({keys.COINS_SINCE_PLAY: 99_900})
    return it.tell("coin 200\nexpect tilt == excessive\nturn technician\nunturn technician\nexpect state == idle")


NOTES = """
wait 3s
fault note_acceptor give_back
note 500
wait 1s
turn technician
console config notes 500 2000
unturn technician
wait 1s
note 1000
note 500
fault note_acceptor path
wait 1s
clear note_acceptor
fault note_acceptor stacker removed
wait 1s
clear note_acceptor
wait 1s
turn attendant
unturn attendant
wait 1s
expect state == idle
"""


def notes(story):
    return story(NOTES)


def note_lost(story):
    it = story("wait 3s")
    device = it.world.note_acceptor
    note = device.insert(2000, it.rig.now_ms * 1000)
    assert it.rig.run_until(lambda: note.place == "moving", 5000)
    return it.tell("fault note_acceptor fall_back\nwait 20s")


def note_kept(story):
    """A device that takes in the note that it was told to give back."""
    it = story("turn technician\nconsole config note_limit £10\nunturn technician\nwait 3s")
    device = it.world.note_acceptor

    def keep(rest: bytes, now_us: int) -> bytes:
        device._accept(now_us)
        return b"\xf0"

    device.insert(2000, it.rig.now_ms * 1000)
    assert it.rig.run_until(lambda: device.note is not None and device.note.place == "escrow", 5000)
    device.commands[0x08] = ((0,), keep)
    return it.tell("wait 5s\nexpect credit == 2000\nexpect stacked == 2000")


# What raises it, and how it is told.
RAISED = {
    events.POWER_UP: (routine, "power up: mains or supply"),
    events.POWER_DOWN: (routine, r"power down \(last sign of life\)"),
    events.PROGRAM_CHANGED: (routine, r"program changed: 0x\w{8}"),
    events.MEMORY_FORMATTED: (routine, "memory formatted"),
    events.MEMORY_REPAIRED: (repaired, r"memory records repaired: \d+"),
    events.DOOR_OPEN: (routine, "door open: main"),
    events.DOOR_CLOSED: (routine, "door closed: main"),
    events.KEY_TURNED: (routine, "key turned: attendant"),
    events.KEY_RETURNED: (routine, "key returned: technician"),
    events.TILT: (routine, "tilt: E11 main door open"),
    events.TILT_CLEARED: (routine, "tilt cleared: E25 coins swallowed without credit: settle the dispute"),
    events.COIN_ERROR: (routine, "coin acceptor error: 6"),
    events.COINS_DISPUTED: (routine, "coins swallowed without credit: 1"),
    events.ACCEPTOR_RESET: (routine, "coin acceptor was reset"),
    events.DEVICE_OFFLINE: (routine, "device offline: I/O board"),
    events.DEVICE_ONLINE: (routine, "device online: hopper £1"),
    events.PAYOUT_STARTED: (payouts, "payout started: £3.00"),
    events.PAYOUT_DONE: (payouts, "payout done: all paid"),
    events.PAYOUT_SHORT: (payouts, r"payout short: hopper flags 0x\w{8}"),
    events.PAYOUT_RESUMED: (payouts, r"payout followed up after power loss: £\d\.\d\d back to the credit"),
    events.HANDPAY_DUE: (payouts, "handpay due: £0.60"),
    events.HANDPAY_PAID: (payouts, "handpay paid: £0.60"),
    events.ROUND_RECOVERED: (rounds, r"round recovered: behind its event \d+"),
    events.ROUND_VOIDED: (rounds, "round voided, bet refunded: £0.15"),
    events.WIN_CAPPED: (capped, r"win cap reached: £\d+\.\d\d"),
    events.EM_PULSE_IN_DOUBT: (doubtful_pulse, "one meter pulse in doubt: coins in"),
    events.CLOCK_LOST: (routine, "date and time lost: the "),
    events.CLOCK_LEFT: (routine, r"clock about to be set, it showed: 2026-03-01 12:\d\d:\d\d"),
    events.CLOCK_SET: (routine, "clock set to: 2026-04-01 09:00:00"),
    events.CONFIG_WAS: (service, "setting about to be changed was: credit_limit £500.00"),
    events.CONFIG_CHANGED: (service, "setting changed to: credit_limit £20.00"),
    events.CONFIGURED: (first_set_up, "first set-up of cabinet: 1"),
    events.RAM_CLEARED: (cleared, "memory cleared by a technician, time: 1"),
    events.PROGRAM_ACCEPTED: (new_program, r"program accepted by a technician: 0x\w{8}"),
    events.EM_PULSE_MISSED: (service, "meter pulse without current, kept in the queue: coins in"),
    events.PERIOD_STARTED: (service, "period meters started: 1"),
    events.DOOR_FOUND_OPEN: (service, "door found open at power-up: cashbox"),
    events.HOPPER_LEVEL: (low, "hopper level: hopper 10p low"),
    events.HOPPER_FITTED: (routine, "hopper fitted: hopper 10p"),
    events.EXTRA_COINS: (service, r"hopper gave extra coins: £0\.\d0"),
    events.TEST_BEGUN: (service, "test begun: coins"),
    events.TEST_ENDED: (service, "test ended: 1 coins"),
    events.NOTE_RETURNED: (notes, "note returned: £5.00"),
    events.NOTE_REFUSED: (notes, "note refused by the acceptor, code: 6"),
    events.NOTE_DISPUTED: (note_lost, "note disputed: £20.00, nothing tells what became of it"),
    events.NOTE_ACCEPTOR_RESET: (notes, "note acceptor was reset"),
    events.STACKER_REMOVED: (notes, "stacker removed, notes in it: 1"),
    events.NOTE_FAULT: (notes, "note acceptor fault: path open"),
    events.NOTE_UNASKED: (note_kept, "note taken without an order, and credited: £20.00"),
    events.EXCESSIVE_INCREMENT: (too_much, "excessive increment: £1001.00"),
    events.RNG_ALARM: (service, "random source failed test: "),
    events.RNG_RECOVERED: (service, "random source passed its start-up test again"),
    events.RNG_DEVICE_CHANGED: (service, "random device changed to kind: asked"),
}
STORIES = (
    routine, payouts, rounds, capped, doubtful_pulse, repaired, service, first_set_up, cleared, new_program, too_much, low,
    notes, note_lost, note_kept,
)  # fmt: skip


OF_SLOTS = (events.UPDATE_FAILED, events.PROGRAM_DAMAGED)  # test_update.py, on boards with slots


def test_every_kind_of_event_has_a_story_that_raises_it():
    assert sorted([*RAISED, *OF_SLOTS]) == sorted(events.NAMES)
    assert {story for story, _ in RAISED.values()} <= set(STORIES)


@pytest.mark.parametrize("tell", STORIES)
def test_events_are_raised_and_told_in_words(story, tell):
    it = tell(story)
    it.tell("console events 128\nwait 3s")
    told = "\n".join(it.world.console.text)
    for code, (teller, text) in RAISED.items():
        if teller is tell:
            assert re.search(rf"^ *\d+  .{{19,}}  +{code} {text}", told, re.MULTILINE), f"{text} is not in\n{told}"


def test_the_last_hundred_and_more_events_survive_a_power_cut(story):
    it = story("\n".join(["open main", "close main"] * 30))
    it.cut()
    it.tell("console events 128\nwait 3s")
    numbers = [int(line.split()[0]) for line in it.world.console.text if re.match(r" *\d+  ", line)]
    assert len(numbers) == 128
    assert numbers == list(range(numbers[0], numbers[0] - 128, -1))
