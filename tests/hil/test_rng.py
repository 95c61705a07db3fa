"""Randomness on the whole cabinet (CAB-RNG): every way in which its source fails stops play within a second, names its tilt,
and play comes back only through the start-up test."""

import pytest

FAULTS = [
    ("silent", "rng_no_data"),
    ("slow", "rng_no_data"),
    ("unplug", "rng_no_data"),
    ("mute", "rng_no_data"),
    ("stuck 7", "rng_repetition"),
    ("stuck_bit", "rng_repetition"),
    ("stuck_bit 7 0", "rng_repetition"),
    ("period", "rng_repetition"),
    ("period 2", "rng_repetition"),
    ("period 300", "rng_repetition"),
    ("bias 60", "rng_proportion"),
    ("bias 40", "rng_proportion"),
]
ASKED_FAULTS = [("unhealthy", "rng_device"), ("short", "rng_no_data")]
CODES = {"rng_repetition": 61, "rng_proportion": 62, "rng_no_data": 63, "rng_device": 65}


def switched(story, entropy):
    """A cabinet with this random device; the technician has told the firmware which it is."""
    it = story(entropy=entropy)
    if entropy != "asked":
        assert "rng_no_data" in it.books()["tilt"], "what it expects does not answer"
        it.tell(f"turn technician\nconsole rng device {entropy}\nwait until service within 5s\nunturn technician")
    return it.tell("wait 300ms\nexpect state == idle")


def fails_and_recovers(it, fault, tilt):
    it.tell(f"coin 100\nfault entropy {fault}")
    began = it.rig.now_ms
    assert it.rig.run_until(lambda: it.rig.state == "tilted", 1000), f"{fault}: still {it.rig.state} after a second"
    assert it.books()["tilt"] == [tilt], f"after {it.rig.now_ms - began} ms"
    it.tell(f"console tilts\nexpect console contains E{CODES[tilt]}\npress start\nwait 3s")
    it.tell(f"expect tilt == {tilt}\nexpect wagered == 0\nexpect games == 0\nexpect credit == 100")
    it.tell("clear entropy\nwait until idle within 5s\npress start\nwait 300ms")
    assert it.rig.run_until(lambda: it.books()["games"] == 1 or it.rig.state != "playing", 120_000)
    assert it.books()["wagered"] > 0


@pytest.mark.parametrize(("fault", "tilt"), FAULTS + ASKED_FAULTS)
def test_a_failing_source_stops_play_within_a_second(story, fault, tilt):
    fails_and_recovers(switched(story, "asked"), fault, tilt)


@pytest.mark.parametrize(
    ("fault", "tilt"), [row for row in FAULTS if row[0] in ("silent", "unplug", "stuck 7", "bias 60")]
)
@pytest.mark.parametrize("entropy", ["stream", "command"])
def test_a_failing_source_of_another_kind_stops_play_within_a_second(story, entropy, fault, tilt):
    fails_and_recovers(switched(story, entropy), fault, tilt)


@pytest.mark.parametrize(("fault", "tilt"), [("stuck 7", "rng_repetition"), ("silent", "rng_no_data")])
def test_no_seed_comes_from_a_source_that_fails_as_start_is_pressed(story, fault, tilt):
    it = story(f"coin 100\nfault entropy {fault}\npress start\nwait 2s\nexpect tilt == {tilt}")
    it.tell("expect wagered == 0\nexpect games == 0\nexpect credit == 100\nclear entropy\nwait until idle within 5s")
    it.tell("want loss\npress start\nwait until idle\nexpect games == 1")


def test_a_round_under_way_stands_still_and_goes_on_with_its_own_seed(story):
    it = story("coin 200\nwant free_spins\npress start\nwait until choosing\nfault entropy silent\nwait 1s")
    it.tell("expect state == tilted\nclear entropy\nwait until choosing within 5s\npress start")
    it.finish()
    assert it.balanced()["games"] == 1


def test_the_start_up_test_must_pass_in_whole(story):
    """While it fails again and again the tilt keeps its name, and the log has one line."""
    it = story("coin 100\nfault entropy period 8\nwait 8s\nexpect tilt == rng_repetition\nexpect tilts == 1")
    it.tell(
        "console events 3\nexpect console contains random\nclear entropy\nwait until idle within 5s\nexpect tilts == 1"
    )


def test_idle_for_long_it_reseeds_and_a_wanted_round_still_comes(story):
    it = story("coin 100\nwant free_spins\nwait 130s\nconsole rng status\nexpect console contains reseeds")
    it.tell("press start\nwait until choosing within 60s")


def test_the_console_tells_how_the_source_is(story):
    it = story("console rng\nexpect console contains ready\nconsole rng health\nwait 1s\nexpect state == idle")
    it.tell('console rng sample 16\nexpect console contains "turn the technician key"')
    it.tell("turn technician\nconsole rng sample 40\nwait 300ms\nexpect state == service")
    rows = [line for line in it.world.console.text if len(line) in (64, 16) and int(line, 16) >= 0]
    assert [len(row) for row in rows] == [64, 16]
    it.tell(
        "console rng sample 0\nexpect console contains from\nconsole rng device dice\nexpect console contains asked"
    )
    it.tell(
        "unturn technician\nexpect state == idle\ncoin 100\nwant loss\npress start\nwait until idle\nexpect games == 1"
    )


def test_known_answers_run_again_on_demand(story):
    it = story("console rng health\nwait 500ms")
    assert any("known answers passed" in line for line in it.world.console.text)


@pytest.mark.host_only
def test_a_wrong_known_answer_locks_play(story, monkeypatch):
    from firmware.rng import known_answers

    it = story("coin 100")
    monkeypatch.setattr(known_answers, "PARTS", (("generator", lambda: iter((False,))),))
    it.tell(
        "console rng health\nwait 300ms\nexpect tilt == rng_known_answer\nconsole tilts\nexpect console contains E64"
    )
    it.tell("press start\nwait 3s\nexpect wagered == 0")
    monkeypatch.undo()
    it.tell("wait until idle within 5s")


@pytest.mark.host_only
@pytest.mark.parametrize("entropy", ["asked", "stream", "command"])
def test_no_byte_of_a_stale_buffer_is_ever_used(story, entropy):
    """Plugged in again, the device first sends once more what it had sent: none of it reaches the generator."""
    it = switched(story, entropy)
    cabinet = it.rig.session.cabinet
    taken = []
    take = cabinet.devices.entropy.take
    cabinet.devices.entropy.take = lambda number: taken.append(take(number)) or taken[-1]
    it.tell("wait 3s")
    for stale in (129, 256, 1024):
        taken.clear()
        it.tell(f"fault entropy unplug {stale}\nwait 2s\nclear entropy\nwait until idle within 5s\nwait 1s")
        stale_sent = bytes(it.world.entropy.stale_sent)
        assert len(stale_sent) >= 129
        after = b"".join(taken)
        assert after
        for place in range(0, len(stale_sent) - 8, 8):
            assert stale_sent[place : place + 8] not in after
