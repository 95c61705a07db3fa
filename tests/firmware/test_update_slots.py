"""Slots and loader: the table of firmware/update/README.md, and the power cut behind every byte that is written."""

import pytest

from firmware.update import loader
from firmware.update import slots as module
from firmware.update.loader import FACTORY, WAIT, choose
from firmware.update.slots import STATE_BYTES
from host_tools.flash.programmer import at_once
from tests.firmware.update_images import (
    SLOT_BYTES,
    CutMemory,
    hash_of,
    image,
    memory,
    other_key,
    power,
    put,
    slots,
)

OLD, NEW = image("1.0.0", 1), image("2.0.0", 2)


def boot(of: bytearray, reason: str = "power") -> loader.Choice:
    return choose(slots(of), reason)


def with_old() -> bytearray:
    """A cabinet that runs version 1 out of slot 0, confirmed."""
    here = memory()
    assert boot(here).slot == FACTORY
    assert put(slots(here), 0, OLD) == ""
    assert slots(here).test(hash_of(OLD)) == ""
    assert boot(here).slot == 0
    assert slots(here).confirm(hash_of(OLD)) == ""
    assert boot(here).slot == 0
    return here


def with_both() -> bytearray:
    """Version 2 has been confirmed in slot 1; version 1 is still in slot 0, with the same counter so that it may come back."""
    here = with_old()
    assert put(slots(here), 1, image("2.0.0", 1)) == ""
    assert slots(here).test(hash_of(image("2.0.0", 1))) == ""
    assert boot(here).slot == 1
    assert slots(here).confirm(hash_of(image("2.0.0", 1))) == ""
    return here


def test_update_tested_and_confirmed():
    here = with_old()
    assert put(slots(here), 1, NEW) == ""
    now = slots(here)
    found = now.image(1)
    assert found is not None
    assert (found.version, found.counter, found.pending, found.active) == ("2.0.0", 2, False, False)
    assert boot(here).slot == 0  # nothing was asked for
    now = slots(here)
    assert now.test(hash_of(NEW)) == ""
    assert now.image(1).pending
    choice = boot(here)
    assert (choice.slot, choice.why) == (1, "")
    now = slots(here)
    assert now.running == 1
    assert now.confirm(hash_of(NEW)) == ""
    assert now.state.floor == 2
    assert boot(here).slot == 1
    assert slots(here).image(1).confirmed


@pytest.mark.parametrize(
    ("reason", "failure"),
    [("watchdog", "it hung or crashed"), ("power", "it did not confirm itself"), ("soft", "it did not")],
)
def test_trial_that_does_not_confirm_goes_back(reason, failure):
    here = with_old()
    put(slots(here), 1, NEW)
    slots(here).test(hash_of(NEW))
    assert boot(here).slot == 1
    choice = boot(here, reason)
    assert choice.slot == 0
    assert failure in choice.why
    now = slots(here)
    assert failure in now.failure(1)
    assert now.image(1) is not None  # a technician may try it again
    assert boot(here).slot == 0
    assert now.state.floor == 1


def test_trial_that_was_never_valid_is_not_started():
    here = with_old()
    put(slots(here), 1, NEW)
    slots(here).test(hash_of(NEW))
    here[SLOT_BYTES + 100] ^= 1
    choice = boot(here)
    assert choice.slot == 0
    assert "not tried" in choice.why


def test_first_application_of_a_new_board_falls_back_to_the_factory_s():
    here = memory()
    put(slots(here), 1, NEW)
    slots(here).test(hash_of(NEW))
    assert boot(here).slot == 1
    assert boot(here, "watchdog").slot == FACTORY


def test_preferred_image_that_decays_gives_way_to_the_other_confirmed_one():
    here = with_both()
    assert boot(here).slot == 1
    here[SLOT_BYTES + 200] ^= 0x10
    choice = boot(here)
    assert choice.slot == 0
    assert "slot 1 is not started" in choice.why
    assert boot(here).slot == 0
    here[100] ^= 1
    choice = boot(here)
    assert choice.slot == WAIT
    assert "its bytes are not those" in choice.why


def test_a_decayed_image_below_the_floor_is_not_started():
    here = with_old()
    put(slots(here), 1, NEW)
    slots(here).test(hash_of(NEW))
    boot(here)
    slots(here).confirm(hash_of(NEW))
    here[SLOT_BYTES + 40] ^= 1
    choice = boot(here)
    assert choice.slot == WAIT
    assert "security counter 1 is below 2" in choice.why


def test_rollback():
    here = with_both()
    assert boot(here).slot == 1
    assert slots(here).revert() == ""
    assert boot(here).slot == 0
    assert slots(here).revert() == ""
    assert boot(here).slot == 1


def test_rollback_of_a_trial_and_none_below_the_floor():
    here = with_old()
    assert "no other confirmed image" in slots(here).revert()
    put(slots(here), 1, NEW)
    slots(here).test(hash_of(NEW))
    boot(here)
    assert slots(here).revert() == ""
    assert boot(here).slot == 0
    slots(here).test(hash_of(NEW))
    boot(here)
    slots(here).confirm(hash_of(NEW))
    assert "below 2" in slots(here).revert()
    assert "below 2" in slots(here).test(hash_of(OLD))


def test_what_must_not_be_written_or_erased():
    here = with_old()
    now = slots(here)
    assert "running" in now.begin(0, 100)
    assert "running" in now.erase(0)
    assert "does not fit" in now.begin(1, SLOT_BYTES + 1)
    assert "begin first" in now.write(1, 0, b"x")
    put(now, 1, NEW)
    now.test(hash_of(NEW))
    assert boot(here).slot == 1
    assert "goes back to" in slots(here).begin(0, 100)
    assert "on trial" in slots(here).test(hash_of(OLD))
    assert "running" in slots(here).erase(1)
    assert "only the image that runs" in slots(here).confirm(hash_of(OLD))
    assert "list the slots" in slots(here).test(bytes(32))


def test_writes_come_in_order_and_are_resumed_behind_the_last_mark():
    here = memory()
    now = slots(here)
    assert now.begin(0, 3 * 1024, b"abcdefghi") == ""
    assert now.write(0, 0, bytes(1000)) == ""
    assert "byte 1000 comes next" in now.write(0, 0, bytes(10))
    assert "byte 1000 comes next" in now.write(0, 1000, bytes(3000))
    assert now.written(0) == 1000
    after = slots(here)
    assert after.writing(0) == (3 * 1024, b"abcdefgh")
    assert after.written(0) == 0  # no mark yet
    assert "not written to its end" in at_once(after.finish(0))


def test_progress_marks(monkeypatch):
    monkeypatch.setattr(module, "MARK_BYTES", 256)
    here = memory()
    now = slots(here)
    now.begin(0, 1024)
    for first in range(0, 700, 100):
        assert now.write(0, first, bytes(100)) == ""
    assert now.written(0) == 700
    assert slots(here).written(0) == 512


def test_what_was_written_comes_again_from_where_it_is_wrong(monkeypatch):
    monkeypatch.setattr(module, "MARK_BYTES", 256)
    here = memory()
    now = slots(here)
    now.begin(0, 1024)
    now.write(0, 0, bytes(700))
    assert "700 bytes are written" in now.rewind(0, 701)
    assert "0 bytes are written" in now.rewind(1, 5)
    assert now.rewind(0, 600) == ""
    assert (now.written(0), slots(here).written(0)) == (600, 512)
    assert now.rewind(0, 300) == ""
    assert (now.written(0), slots(here).written(0)) == (300, 256)
    assert now.write(0, 300, bytes(724)) == ""
    assert slots(here).written(0) == 1024


def test_lost_record_waits_for_a_technician():
    here = with_both()
    here[2 * SLOT_BYTES :] = bytes(STATE_BYTES)
    choice = boot(here)
    assert choice.slot == WAIT
    assert "record is lost" in choice.why
    assert "record is lost" in slots(here).begin(0, 100)
    assert at_once(slots(here).repair(1)) == ""
    assert boot(here).slot == 1


def test_one_decayed_copy_of_the_record_is_enough():
    for copy in (0, 64):
        here = with_both()
        here[2 * SLOT_BYTES + copy + 5] ^= 1
        assert boot(here).slot in (0, 1)


def test_memory_that_keeps_nothing_is_told():
    class Dead(CutMemory):
        def write(self, offset: int, data: bytes) -> None:
            pass

    assert "has to be replaced" in slots(Dead(memory())).begin(0, 100)


# --- refused images ---------------------------------------------------------------------------------------------------


def refuse(data: bytes, part: str = "") -> None:
    """Neither accepted when it is written, nor started by the loader if it was there all the same."""
    here = with_old()
    before = bytes(here[:SLOT_BYTES])
    why = put(slots(here), 1, data, 4096)
    assert why
    assert part in why
    assert slots(here).image(1) is None
    now = slots(here)  # as if it had been good when it was written
    now.state.status[1], now.state.trial, now.state.phase = module.COMPLETE, 1, module.PENDING
    now._save()
    here[SLOT_BYTES : SLOT_BYTES + len(data)] = data[:SLOT_BYTES]
    assert boot(here).slot == 0
    assert boot(here).slot == 0
    assert bytes(here[:SLOT_BYTES]) == before


def test_good_image_is_not_refused():
    here = with_old()
    assert put(slots(here), 1, NEW) == ""


def test_a_flipped_bit_in_each_byte_is_refused():
    """Header, TLVs and this small payload, a bit of each byte by turns; the payload of a whole application: tests/flash."""
    for place in range(len(NEW)):
        damaged = bytearray(NEW)
        damaged[place] ^= 1 << place % 8
        refuse(bytes(damaged))


def test_wrong_key_counter_board_and_payload_are_refused(tmp_path):
    refuse(image(key=other_key(tmp_path), version="2.0.0"), "a key that this cabinet does not know")
    refuse(image("2.0.0", 0), "security counter 0 is below 1")
    refuse(image("2.0.0", 2, "mps2"), "is for board mps2")


def test_truncated_and_longer_images_are_refused():
    for length in (1, 31, 32, 100, len(NEW) - 100, len(NEW) - 1):
        refuse(NEW[:length])
    here = with_old()
    assert "behind the image" in put(slots(here), 1, NEW + b"\0", 4096)


# --- power cuts ---------------------------------------------------------------------------------------------------------


def cut_everywhere(make, action, allowed):
    """Runs `action(slots)` with the power failing behind each byte that it writes, and none; what starts then is in `allowed`,
    again and again, and its bytes are whole. Returns how many places there were."""
    whole = CutMemory(make())
    action(slots(whole))
    for place in range(whole.written + 1):
        here = make()
        with power():
            action(slots(CutMemory(here, place or None) if place else CutMemory(here)))
        starts = {boot(here).slot, boot(here).slot, boot(here).slot}
        assert starts <= allowed, (place, starts)
        boot_cut_everywhere(here, allowed)
    return whole.written


def boot_cut_everywhere(of: bytearray, allowed) -> None:
    """The power fails in the loader's own writes, too."""
    whole = CutMemory(bytearray(of))
    choose(slots(whole), "power")
    for place in range(1, whole.written + 1):
        here = bytearray(of)
        with power():
            choose(slots(CutMemory(here, place)), "power")
        assert boot(here).slot in allowed
        assert boot(here).slot in allowed


def test_power_cut_behind_every_byte_of_an_update(monkeypatch):
    monkeypatch.setattr(module, "MARK_BYTES", 128)
    places = cut_everywhere(with_old, lambda now: put(now, 1, NEW), {0})
    assert places > len(NEW)


def test_power_cut_behind_every_byte_of_an_update_of_which_a_part_came_again(monkeypatch):
    monkeypatch.setattr(module, "MARK_BYTES", 128)

    def update(now) -> None:
        now.begin(1, len(NEW))
        now.write(1, 0, bytes(500))
        now.rewind(1, 100)  # its first 100 bytes are wrong as well, and nobody has looked
        now.write(1, 100, NEW[100:])
        assert at_once(now.finish(1))
        assert put(now, 1, NEW) == ""

    assert cut_everywhere(with_old, update, {0}) > 2 * len(NEW)


def test_an_update_that_was_cut_anywhere_can_be_resumed(monkeypatch):
    monkeypatch.setattr(module, "MARK_BYTES", 128)
    whole = CutMemory(with_old())
    put(slots(whole), 1, NEW)
    for place in range(1, whole.written + 1):
        here = with_old()
        with power():
            put(slots(CutMemory(here, place)), 1, NEW)
        assert boot(here).slot == 0
        after = slots(here)
        assert after.image(1) is not None or put(after, 1, NEW) == ""
        assert after.test(hash_of(NEW)) == ""
        assert boot(here).slot == 1


def with_new_complete() -> bytearray:
    here = with_old()
    put(slots(here), 1, NEW)
    return here


def with_new_tried() -> bytearray:
    here = with_new_complete()
    slots(here).test(hash_of(NEW))
    boot(here)
    return here


def test_power_cut_in_test_confirm_revert_and_erase():
    cut_everywhere(with_new_complete, lambda now: now.test(hash_of(NEW)), {0, 1})
    cut_everywhere(with_new_tried, lambda now: now.confirm(hash_of(NEW)), {0, 1})
    cut_everywhere(with_new_tried, lambda now: now.revert(), {0})
    cut_everywhere(with_both, lambda now: now.revert(), {0, 1})
    cut_everywhere(with_new_complete, lambda now: now.erase(1), {0})


def test_confirmed_is_confirmed_and_before_it_is_not():
    """Behind the last byte of the record the new image stays; before it the old one comes back. Nothing in between."""
    whole = CutMemory(with_new_tried())
    slots(whole).confirm(hash_of(NEW))
    for place in range(1, whole.written + 1):
        here = with_new_tried()
        with power():
            slots(CutMemory(here, place)).confirm(hash_of(NEW))
        assert boot(here).slot == (1 if place == whole.written else 0)
