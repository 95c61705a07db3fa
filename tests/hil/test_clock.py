"""Date and time, and what is dated: the clock of the rig's world begins on 2026-03-01 at noon and runs on without power."""

import re

import pytest


def lines(it, command: str, within: str = "1s") -> list[str]:
    """What the console answers."""
    it.tell(f"console {command}\nwait {within}")
    return [line for line in it.world.console.text if line]


def newest(it, code: int) -> str:
    """The newest event of a code, "" when there is none."""
    return next((line for line in lines(it, "events 128", "3s") if re.match(rf" *\d+  .{{19,}}  +{code} ", line)), "")


def shown(line: str) -> str:
    """Date and time of a line."""
    found = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", line)
    return found[0] if found else ""


def test_what_happens_is_dated_by_the_battery_backed_clock(story):
    """CAB-EVT-01."""
    it = story("wait 10s\nopen main\nclose main")
    at_s = it.rig.now_ms // 1000
    assert "2026-03-01 12:00:1" in shown(newest(it, 10))
    assert int(shown(newest(it, 10))[-2:]) in (at_s - 1, at_s)
    assert newest(it, 10).endswith("door open: main")


def test_the_clock_runs_on_without_power(story):
    """CAB-PWR-07: power-up and power-down are logged with their times; the last sign of life is 60 s old at most."""
    it = story("wait 100s\npower off")
    off_s = it.rig.now_ms // 1000
    it.tell("wait 3m\nwait 20s\npower on")
    down, up = shown(newest(it, 5)), shown(newest(it, 1))
    assert up.startswith("2026-03-01 12:05:")
    minute, second = map(int, down.split(":")[1:])
    assert 0 <= off_s - (60 * minute + second) <= 60


def test_a_power_cut_is_no_loss_of_time(story):
    it = story("wait 70s")
    before = it.books()["power_ups"]
    for _ in range(3):
        it.cut()
    assert not newest(it, 80)
    assert it.books()["power_ups"] == before + 3
    assert len([line for line in lines(it, "events 128", "3s") if "power up" in line]) == before + 3


def test_a_dead_battery_is_noticed_and_stops_no_play(story):
    """CAB-EVT-05: told by an event, at `status`, and to whoever watches; coins and plays go on without dates."""
    it = story("coin 200\nfault clock battery\npower off\nwait 1s\npower on")
    assert it.saw("clock")[-1]["lost"]
    assert newest(it, 80).split("  ")[-1].strip().startswith("80 date and time lost: the ")
    assert any(line.startswith("warning  E53 date and time lost") for line in lines(it, "status"))
    it.tell("coin 100\nwant loss\npress start\nwait until idle within 1m\nexpect games == 1")
    assert "time not known" in lines(it, "recall 1")[0]
    it.tell("open main\nclose main\nwait 1s")
    assert re.search(r"power-up \d+ \+\d+s +11 door closed: main", newest(it, 11))
    it.tell("clear clock\nturn technician\nconsole clock set 2026-03-02 09:30\nunturn technician")
    assert not any(line.startswith("warning") for line in lines(it, "status"))
    it.tell("open main\nclose main\nwait 1s\npower off\nwait 2s\npower on")
    assert shown(newest(it, 11)).startswith("2026-03-02 09:30:")
    assert shown(newest(it, 1)).startswith("2026-03-02 09:30:")
    it.balanced()


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [(-3600, "behind"), (-2 * 365 * 86400, "the year is not"), (80 * 365 * 86400, "the year is not")],
    ids=["an_hour_back", "before_2025", "after_2099"],
)
def test_a_clock_that_cannot_be_right_is_not_believed(story, seconds, reason):
    it = story(f"fault clock wrong {seconds}\npower off\nwait 1s\npower on")
    assert reason in newest(it, 80)
    assert it.saw("clock")[-1]["date"] == ""


def test_a_clock_that_was_set_ahead_can_be_set_back(story):
    """What was dated wrongly before does not make the right time look wrong for ever."""
    it = story(
        "turn technician\nconsole clock set 2040-01-01 00:00\nconsole clock set 2026-03-01 13:00:00\nunturn technician"
    )
    it.tell("power off\nwait 5s\npower on")
    assert not newest(it, 80)
    assert shown(newest(it, 1)).startswith("2026-03-01 13:00:")


def test_setting_is_for_service_mode_and_logged_with_both_times(story):
    it = story("console clock set 2026-07-01 10:00")
    assert "error: the clock is set in service mode" in "\n".join(it.world.console.text)
    assert not newest(it, 82)
    it.tell("turn technician\nconsole clock set 2028-02-28 23:59:58\nunturn technician\nwait 3s")
    assert shown(lines(it, "clock")[0]).startswith("2028-02-29 00:00:0")
    assert newest(it, 81).split("it showed: ")[1].startswith("2026-03-01 12:00:")
    assert newest(it, 82).endswith("clock set to: 2028-02-28 23:59:58")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("set", "say clock set YYYY-MM-DD HH:MM"),
        ("set 2026-03-01", "say clock set"),
        ("set 2026-03 12:00", "say clock set"),
        ("set 2026-02-29 12:00", "day must be 1 to 28, not 29"),
        ("set 2026-13-01 12:00", "month must be 1 to 12, not 13"),
        ("set 2026-01-01 24:00", "hour must be 0 to 23, not 24"),
        ("set 2024-01-01 12:00", "the year must be 2025 to 2099"),
        ("set 2100-01-01 12:00", "the year must be 2025 to 2099"),
        ("set x", "say clock set"),
    ],
)
def test_what_is_no_time_is_refused_with_the_remedy(story, text, told):
    it = story(f"turn technician\nconsole clock {text}")
    assert told in "\n".join(it.world.console.text)
    assert shown(lines(it, "clock")[0]).startswith("2026-03-01 12:00:")


def test_the_last_moment_of_2099_is_a_time(story):
    it = story("turn technician\nconsole clock set 2099-12-31 23:59:00")
    assert shown(lines(it, "clock")[0]).startswith("2099-12-31 23:59:0")
    it.tell("unturn technician\npower off\nwait 2s\npower on")
    assert shown(newest(it, 1)).startswith("2099-12-31 23:59:")


def test_events_are_shown_in_pages(story):
    it = story("open main\nclose main\nopen logic\nclose logic\nwait 500ms")
    first = lines(it, "events 3")
    assert len(first) == 4
    onward = re.fullmatch(r"older ones: (events 3 from \d+)", first[-1])
    assert onward
    second = lines(it, onward[1])
    numbers = [int(line.split()[0]) for line in first[:3] + second[:3]]
    assert numbers == list(range(numbers[0], numbers[0] - 6, -1))
    assert lines(it, "events 20 from 0")[-1].split()[0] == "0"
    assert lines(it, "events 1 from x")[0].startswith("error: the event's number")
    assert lines(it, "events 1 to 3")[0].startswith("error: say events")


def test_a_program_change_is_logged_with_both_hashes(story):
    """CAB-PRG-03."""
    it = story()
    first = lines(it, "programs")
    assert re.fullmatch(r"  0  2026-03-01 12:00:0\d  version \d+\.\d+\.\d+", first[0])
    assert first[1] == "     from none"
    it.tell("power off")
    packs = it.rig.session.packs
    for missing in sorted(packs)[:2] * 6:
        it.rig.session.packs = {name: data for name, data in packs.items() if name != missing}
        it.tell("power on\npower off")
    it.rig.session.packs = packs
    it.tell("power on")
    changes = lines(it, "programs")
    assert len(changes) == 30
    assert changes[1].split()[1] == changes[5].split()[1]  # from = to of the one before
    assert changes[2].split()[1] == first[2].split()[1]


def test_no_note_has_been_taken(story):
    assert lines(story(), "notes")[0] == "no note has been taken yet"


def test_recall_tells_what_a_game_was(story):
    """CAB-EVT-02: date, game, mode, bet, credit before and after, award, feature; and a game under way."""
    it = story("coin 200\nwant free_spins\npress start for 60ms\nwait until choosing")
    told = lines(it, "recall")
    assert told[0].startswith(" 0  2026-03-01 12:00:0")
    assert told[1:] == ["    under way"]
    it.tell("press right\npress start\nwait until idle within 5m")
    won = it.saw("round_end")[-1]["award"]
    told = lines(it, "recall 1", "2s")
    assert "piggy_riches base  bet £0.15  credit before £2.00" in told[0]
    assert (
        told[2]
        == f"    award £{won // 100}.{won % 100:02d}  credit after £{(185 + won) // 100}.{(185 + won) % 100:02d}"
    )
    assert "free spins end" in told[3]
    assert told[4] == "    decisions pick 2"


def test_recall_keeps_a_voided_game(story):
    it = story("coin 200\nwant free_spins\npress start\nwait until choosing\npower off")
    it.rig.session.packs = {name: data for name, data in it.rig.session.packs.items() if name != "piggy_riches"}
    it.tell("power on\nwait 1s\nexpect credit == 200")
    assert "    voided, bet refunded  credit after £2.00" in lines(it, "recall 1")
    assert lines(it, "replay 1")[0].startswith("error: that game was voided")
