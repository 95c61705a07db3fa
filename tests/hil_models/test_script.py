"""The rig script: what parses, what is refused and how it is told, and the canonical form."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.hil import script
from host_tools.hil import script_commands as cmd
from host_tools.hil.faults import Arg, FaultSpec
from host_tools.hil.line_faults import LINE_FAULTS
from host_tools.hil.models.bill_acceptor import BillAcceptor
from host_tools.hil.models.coin_acceptor import CoinAcceptor
from host_tools.hil.models.entropy_asked import EntropySource
from host_tools.hil.models.hopper import Hopper
from host_tools.hil.models.opp_panel import OppPanel
from host_tools.hil.models.ssp_acceptor import SspAcceptor
from host_tools.hil.script import ScriptError, parse
from host_tools.hil.vocabulary import DEFAULT, DEVICES, FIGURES, NOTE_ACCEPTORS, Vocabulary, is_line_fault

GOOD = [
    ("coin 100", cmd.Coin(100), "coin 100"),
    ("coins 10 200  5", cmd.Coins((10, 200, 5)), "coins 10 200 5"),
    ("coin 50 for 80", cmd.Coin(50, 80), "coin 50 for 80ms"),
    ("coin 50 for 500ms", cmd.Coin(50), "coin 50"),
    ("refill hopper_10", cmd.Refill("hopper_10"), "refill hopper_10"),
    ("refill hopper_100 20", cmd.Refill("hopper_100", 20), "refill hopper_100 20"),
    ("hold start", cmd.Hold("start", True), "hold start"),
    ("release start", cmd.Hold("start", False), "release start"),
    ("note 2000", cmd.Note(2000), "note 2000"),
    ("note 500 for 1200", cmd.Note(500, 1200), "note 500 for 1200ms"),
    ("press start", cmd.Press("start"), "press start"),
    ("press cash_out for 300", cmd.Press("cash_out", 300), "press cash_out for 300ms"),
    ("press left for 2s", cmd.Press("left", 2000), "press left for 2s"),
    ("  open main # the big one", cmd.Door("main", True), "open main"),
    ("close note_box", cmd.Door("note_box", False), "close note_box"),
    ("turn attendant", cmd.Key("attendant", True), "turn attendant"),
    ("unturn technician", cmd.Key("technician", False), "unturn technician"),
    ("wait 500ms", cmd.Wait(500), "wait 500ms"),
    ("wait 120s", cmd.Wait(120_000), "wait 2m"),
    ("wait", cmd.WaitUntil(), "wait until idle"),
    ("wait until", cmd.WaitUntil(), "wait until idle"),
    ("wait until handpay within 3m", cmd.WaitUntil("handpay", 180_000), "wait until handpay within 3m"),
    ("wait until off within 120s", cmd.WaitUntil("off"), "wait until off"),
    ("power off", cmd.Power(False), "power off"),
    ("power on", cmd.Power(True), "power on"),
    ("power cut after 17 writes", cmd.PowerCut(17), "power cut after 17 writes"),
    ("power cut after 1 write", cmd.PowerCut(1), "power cut after 1 writes"),
    ("power cut", cmd.PowerCut(), "power cut"),
    ("power cut mains", cmd.PowerCut(mains=True), "power cut mains"),
    ("power cut mains after 0 writes", cmd.PowerCut(0, True), "power cut mains after 0 writes"),
    ("expect books == ok", cmd.Expect("books", "==", "ok"), "expect books == ok"),
    ("expect settled == ok", cmd.Expect("settled", "==", "ok"), "expect settled == ok"),
    ("fault coin_acceptor jam", cmd.Fault("coin_acceptor", "jam"), "fault coin_acceptor jam"),
    ("fault hopper_10 jam 3", cmd.Fault("hopper_10", "jam", (3,)), "fault hopper_10 jam 3"),
    ("fault cctalk echo corrupt 2", cmd.Fault("cctalk", "echo", ("corrupt", 2)), "fault cctalk echo corrupt 2"),
    ("fault panel stuck start", cmd.Fault("panel", "stuck", ("start",)), "fault panel stuck start"),
    ("fault panel drop 3 rx", cmd.Fault("panel", "drop", (3, "rx")), "fault panel drop 3 rx"),
    ("fault note_acceptor swap", cmd.Fault("note_acceptor", "swap"), "fault note_acceptor swap"),
    ("fit note_acceptor cctalk", cmd.Fit("cctalk"), "fit note_acceptor cctalk"),
    ("clear entropy", cmd.Clear("entropy"), "clear entropy"),
    ("console meters  all", cmd.Console("meters  all"), "console meters  all"),
    ("console help # shows help", cmd.Console("help"), "console help"),
    ('console "a # b \\"c\\" \\\\ \\x07"', cmd.Console('a # b "c" \\ \x07'), 'console "a # b \\"c\\" \\\\ \\x07"'),
    ("game dog_diner", cmd.Game("dog_diner"), "game dog_diner"),
    ("entropy 00FF 1a", cmd.Entropy(b"\x00\xff\x1a"), "entropy 00ff1a"),
    ("entropy seed 42", cmd.Entropy(seed=42), "entropy seed 42"),
    ("entropy random", cmd.Entropy(), "entropy random"),
    ("want loss", cmd.Want("loss"), "want loss"),
    ("want win", cmd.Want("win"), "want win"),
    ("want win >= 10x", cmd.Want("win", ">=", cmd.Times(1000)), "want win >= 10x"),
    ("want win < 0.50x", cmd.Want("win", "<", cmd.Times(50)), "want win < 0.5x"),
    ("want free_spins", cmd.Want("free_spins"), "want free_spins"),
    ("want scatters 4", cmd.Want("scatters", value=4), "want scatters 4"),
    ("want wheel", cmd.Want("wheel"), "want wheel"),
    ("want wheel go_large", cmd.Want("wheel", value="go_large"), "want wheel go_large"),
    ("want bowl 3", cmd.Want("bowl", value="3"), "want bowl 3"),
    ("want gamble green", cmd.Want("gamble", value="green"), "want gamble green"),
    ("want gamble red double", cmd.Want("gamble", value="red double"), "want gamble red double"),
    ("want spin_chance loss", cmd.Want("spin_chance", value="loss"), "want spin_chance loss"),
    ("expect credit == 100", cmd.Expect("credit", "==", 100), "expect credit == 100"),
    ("expect last_win >= 10x", cmd.Expect("last_win", ">=", cmd.Times(1000)), "expect last_win >= 10x"),
    ("expect state != tilted", cmd.Expect("state", "!=", "tilted"), "expect state != tilted"),
    ("expect tilt == E41", cmd.Expect("tilt", "==", "E41"), "expect tilt == E41"),
    ('expect console contains "two words"', cmd.Expect("console", "contains", "two words"), None),
    ("expect lamp.start == on", cmd.Expect("lamp.start", "==", "on"), "expect lamp.start == on"),
    ("expect meter.coin_in < 5", cmd.Expect("meter.coin_in", "<", 5), "expect meter.coin_in < 5"),
    ("expect pulses.em_in == 10", cmd.Expect("pulses.em_in", "==", 10), "expect pulses.em_in == 10"),
    ("expect audit == ok", cmd.Expect("audit", "==", "ok"), "expect audit == ok"),
]

BAD = [
    ("coinz 5", "unknown command 'coinz'", "did you mean coin"),
    ("coin", "coin in pence is missing", "whole number"),
    ("coin -5", "'-5' is no coin", "1 to"),
    ("coin 1e3", "'1e3' is no coin", "1 to"),
    ("press strat", "unknown button 'strat'", "did you mean start?"),
    ("press start for ever", "'ever' is no time of a press", "500ms"),
    ("press start 300", "'300' stands where for belongs", "write: for"),
    ("open attendant", "unknown door 'attendant'", "known: main cashbox"),
    ("turn main", "unknown key 'main'", "attendant technician"),
    ("wait 5", "'5' is no duration", "2s or 3m"),
    ("wait 25000h", "is no duration", "24 hours"),
    ("wait until happy", "unknown state 'happy'", "idle playing"),
    ("wait until idle in 3s", "'in' stands where within belongs", "within"),
    ("power maybe", "unknown power command", "on off cut"),
    ("power cut after writes", "'writes' is no number", "whole number"),
    ("fault hopper jam", "unknown device 'hopper'", "hopper_100"),
    ("fault hopper_100 explode", "knows no fault 'explode'", "runaway N"),
    ("fault hopper_100 runaway", "takes: N", "runaway N"),
    ("fault hopper_100 jam many", "N is a whole number", "jam"),
    ("fault panel stuck bell", "unknown BUTTON 'bell'", "known: start"),
    ("fault console echo off", "knows no fault 'echo'", "mute"),
    ("fault note_acceptor nak", "note_acceptor (ssp) knows no fault 'nak'", "note_acceptor (ssp) takes: slow MS"),
    ("fit note_acceptor ebds", "unknown note acceptor 'ebds'", "known: ssp cctalk"),
    ("fit hopper_100 cctalk", "unknown device 'hopper_100'", "known: note_acceptor"),
    ("clear everything", "unknown device", "coin_acceptor"),
    ('console "open', "a quote is not closed", "write"),
    ('console a "b"', "quotes within text", "in quotes"),
    ("console", "text is missing", "write the text"),
    ("game chess", "unknown game", "piggy_bank"),
    ("entropy abc", "even number of hexadecimal", "seed N"),
    ("entropy", "source is missing", "seed N"),
    ("want riches", "unknown outcome", "free_spins"),
    ("want win =< 5x", "unknown operator", ">="),
    ("want win >= 5", "'5' is no multiple", "10x"),
    ("want scatters", "number of Scatters is missing", "whole number"),
    ("want spin_chance", "name is missing", "win|loss"),
    ("want wheel 5*", "'5*' is no name", "[PRIZE]"),
    ("want respin now", "'now' is too much", "want respin"),
    ("want loss now", "'now' is too much", "want loss"),
    ("expect cerdit == 1", "unknown name 'cerdit'", "known: credit"),
    ("expect credit contains 1", "unknown operator 'contains'", "=="),
    ("expect credit == lots", "'lots' is no value", "10x"),
    ("expect lamp.start == red", "unknown lamp state", "on off"),
    ("expect lamp.??? == on", "is no name of a lamp", "lamp.NAME"),
    ("expect state == bored", "unknown state", "idle"),
    ("expect console == x", "unknown operator '=='", "contains"),
]


@pytest.mark.parametrize(("line", "command", "canonical"), GOOD)
def test_good_lines(line: str, command: cmd.Command, canonical: str | None) -> None:
    assert parse(line) == (command,)
    assert str(command) == (canonical or line)
    assert parse(str(command)) == (command,)


@pytest.mark.parametrize(("line", "what", "remedy"), BAD)
def test_bad_lines_are_told_with_a_remedy(line: str, what: str, remedy: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse(line)
    (problem,) = caught.value.problems
    assert problem.line == 1
    assert what in problem.what
    assert remedy in problem.remedy


def test_all_bad_lines_are_told_at_once() -> None:
    text = "# a comment\ncoin 100\n\nbounce\npress start\r\nexpect credit = 5\n"
    with pytest.raises(ScriptError) as caught:
        parse(text, "evening.rig")
    assert [problem.line for problem in caught.value.problems] == [4, 6]
    assert "evening.rig:4: unknown command 'bounce'; known: coin coins note" in str(caught.value)
    assert str(caught.value).count("\n") == 1


def test_line_numbers_do_not_count_in_comparisons() -> None:
    commands = parse("\ncoin 10\ncoin 10\n")
    assert [command.line for command in commands] == [2, 3]
    assert commands[0] == commands[1]
    assert parse("# nothing\n\n") == ()


def test_a_rig_may_bring_its_own_names() -> None:
    names = Vocabulary(
        lamps=("tower",),
        meters=("coin_in",),
        devices=DEVICES | {"note_acceptor": {"jam": FaultSpec("stuck", (Arg("N", 0, 9),))}},
    )
    assert parse("expect lamp.tower == on\nfault note_acceptor jam 2\nexpect meter.coin_in == 1", vocabulary=names)
    with pytest.raises(ScriptError, match=r"known: tower[\s\S]*known: coin_in"):
        parse("expect lamp.start == on\nexpect meter.coin_out == 1", vocabulary=names)


def test_faults_are_those_of_the_note_acceptor_that_is_fitted() -> None:
    fit = "fit note_acceptor cctalk\n"
    assert parse(fit + "fault note_acceptor refuse_route 2\nfault note_acceptor reset moving")
    with pytest.raises(ScriptError) as caught:
        parse(fit + "fault note_acceptor swap\n" + "fit note_acceptor ssp\nfault note_acceptor swap")
    (problem,) = caught.value.problems
    assert problem.line == 2
    assert problem.what.startswith("note_acceptor (cctalk) knows no fault 'swap'; known: ")
    assert "refuse_route [N=1]" in problem.remedy
    assert parse("fault note_acceptor nak", vocabulary=DEFAULT.fitted("cctalk"))


def test_where_a_fault_is_the_same_it_has_the_same_name_and_arguments() -> None:
    """A script for one note acceptor runs with the other, but for what is a matter of its protocol."""
    ssp, cctalk = NOTE_ACCEPTORS["ssp"], NOTE_ACCEPTORS["cctalk"]
    assert set(ssp) - set(cctalk) == {"swap", "path", "version", "bad_crc", "key", "count"}
    assert set(cctalk) - set(ssp) == {"refuse_route", "event", "busy", "nak", "bad_checksum"}
    assert [kind for kind in ssp if kind in cctalk and ssp[kind].args != cctalk[kind].args] == []


def test_device_and_line_faults_never_share_a_name() -> None:
    for model in (CoinAcceptor, Hopper, OppPanel, EntropySource, SspAcceptor, BillAcceptor):
        assert not model.FAULTS.keys() & LINE_FAULTS.keys()
    assert is_line_fault("mute")
    assert not is_line_fault("jam")


def test_times_are_exact() -> None:
    assert cmd.Times(50).pence(25) * 2 == 25
    assert [str(cmd.Times(figure)) for figure in (0, 5, 50, 100, 1050)] == ["0x", "0.05x", "0.5x", "1x", "10.5x"]


FAULT_LINES = st.sampled_from(
    [
        cmd.Fault(
            device, kind, tuple(arg.words[0] if arg.words else "start" if arg.free else arg.low for arg in spec.args)
        )
        for device, specs in DEVICES.items()
        for kind, spec in specs.items()
    ]
)
TEXT = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)
TIMES = st.builds(cmd.Times, st.integers(0, 999_999_999))
OPS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
COMMANDS = st.one_of(
    st.builds(cmd.Coin, st.integers(1, 100_000), st.integers(0, 10_000_000)),
    st.builds(cmd.Note, st.integers(1, 1_000_000), st.none() | st.integers(0, 10_000_000)),
    st.builds(cmd.Refill, st.sampled_from(["hopper_10", "hopper_100"]), st.integers(1, 10_000)),
    st.builds(cmd.Hold, st.sampled_from(DEFAULT.buttons), st.booleans()),
    st.builds(cmd.Press, st.sampled_from(DEFAULT.buttons), st.integers(0, 10_000_000)),
    st.builds(cmd.Door, st.sampled_from(DEFAULT.doors), st.booleans()),
    st.builds(cmd.Key, st.sampled_from(DEFAULT.keys), st.booleans()),
    st.builds(cmd.Wait, st.integers(0, 10_000_000)),
    st.builds(cmd.WaitUntil, st.sampled_from(DEFAULT.states), st.integers(0, 10_000_000)),
    st.builds(cmd.PowerCut, st.none() | st.integers(0, 1_000_000), st.booleans()),
    st.builds(cmd.Power, st.booleans()),
    FAULT_LINES,
    st.builds(cmd.Console, TEXT),
    st.builds(cmd.Entropy, st.binary(min_size=1, max_size=40)),
    st.builds(cmd.Entropy, seed=st.none() | st.integers(0, 10**12 - 1)),
    st.builds(cmd.Want, st.just("win"), OPS, TIMES),
    st.builds(cmd.Want, st.just("scatters"), value=st.integers(0, 100)),
    st.builds(
        cmd.Want,
        st.sampled_from(["wheel", "pot", "feature", "bowl"]),
        value=st.from_regex(r"[a-z0-9_]+", fullmatch=True),
    ),
    st.builds(cmd.Expect, st.sampled_from(FIGURES), OPS, st.integers(-(10**12) + 1, 10**12 - 1) | TIMES),
    st.builds(cmd.Expect, st.just("console"), st.just("contains"), TEXT),
    st.builds(cmd.Expect, st.sampled_from(["tilt", "audit"]), st.just("=="), TEXT),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(COMMANDS, max_size=8))
def test_canonical_lines_parse_to_the_same_commands(commands: list[cmd.Command]) -> None:
    assert parse("\n".join(map(str, commands))) == tuple(commands)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=120))
def test_any_text_parses_or_is_told(text: str) -> None:
    try:
        commands = parse(text)
    except ScriptError:
        return
    assert parse("\n".join(map(str, commands))) == commands


def test_the_readme_names_every_fault() -> None:
    readme = (Path(script.__file__).parent / "README.md").read_text()
    rows = readme[readme.index("### Faults") : readme.index("## The rig script")]
    for specs in (*DEVICES.values(), *NOTE_ACCEPTORS.values()):
        for kind in specs:
            assert re.search(rf"`{kind}\b", rows), kind
