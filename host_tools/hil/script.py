"""Parser of the rig script (README): the whole file is checked, and every bad line told, before anything runs."""

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from host_tools.hil import script_commands as cmd
from host_tools.hil.faults import resolve, usage
from host_tools.hil.script_commands import Command, Times
from host_tools.hil.vocabulary import CHECKS, DEFAULT, FIGURES, NOTE_ACCEPTORS, OUTCOMES, WORDS, Vocabulary

ORDER_OPS: Final = ("==", "!=", "<", "<=", ">", ">=")
EQUAL_OPS: Final = ("==", "!=")
TEXT_OPS: Final = ("contains", "==", "!=")
_DURATION: Final = re.compile(r"([0-9]{1,9})(ms|s|m)")
_TIMES: Final = re.compile(r"([0-9]{1,7})(?:\.([0-9]{1,2}))?x")
_FIGURE: Final = re.compile(r"-?[0-9]{1,12}")
_OUTCOME_NAME: Final = re.compile(r"[a-z0-9_]+")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_TOKEN: Final = re.compile(r'\s*(?:(#.*)|"((?:[^"\\]|\\.)*)"|([^\s"#]+))', re.ASCII)
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
MAX_MS: Final = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """One bad line: what is wrong, and what would be right."""

    line: int
    what: str
    remedy: str


class ScriptError(ValueError):
    """All bad lines of a script; `problems` in line order."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.name = name
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{name}:{bad.line}: {bad.what}; {bad.remedy}" for bad in problems))


class _BadError(Exception):
    """Raised within one line: (what is wrong, remedy)."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    quoted: bool


def parse(text: str, name: str = "script", vocabulary: Vocabulary = DEFAULT) -> tuple[Command, ...]:
    """The commands of a script. Errors: ScriptError with all bad lines; `name` is shown in front of their numbers."""
    commands: list[Command] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            tokens = _tokens(line.rstrip("\r"))
            if tokens:
                commands.append(_Line(number, tokens, line.rstrip("\r"), vocabulary).command())
                if isinstance(commands[-1], cmd.Fit):
                    vocabulary = vocabulary.fitted(commands[-1].protocol)
        except _BadError as bad:
            problems.append(Problem(number, str(bad.args[0]), str(bad.args[1])))
    if problems:
        raise ScriptError(name, problems)
    return tuple(commands)


def _fail(what: str, remedy: str) -> NoReturn:
    raise _BadError(what, remedy)


def _tokens(line: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while line[place:].strip():
        match = _TOKEN.match(line, place)
        if match is None:
            _fail("a quote is not closed", 'write "text", with \\" for a quote inside it')
        comment, quoted, word = match.groups()
        if comment is not None:
            break
        tokens.append(_Token(word, False) if quoted is None else _Token(_unescape(quoted), True))
        place = match.end()
    return tokens


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 3 else found[1], text)


class _Line:
    """One line being read from left to right."""

    def __init__(self, number: int, tokens: list[_Token], raw: str, names: Vocabulary) -> None:
        self.number = number
        self.tokens = tokens
        self.raw = raw
        self.names = names
        self.next = 1

    def command(self) -> Command:
        verb = self.tokens[0].text
        reader = _VERBS.get(verb)
        if reader is None or self.tokens[0].quoted:
            _fail(f"unknown command {verb!r}", _choices(verb, _VERBS))
        command = reader(self)
        if self.next < len(self.tokens):
            _fail(f"{self.tokens[self.next].text!r} is too much", f"the line could end as: {command}")
        return command

    def more(self) -> bool:
        return self.next < len(self.tokens)

    def take(self, what: str, remedy: str) -> _Token:
        if not self.more():
            _fail(f"{what} is missing", remedy)
        self.next += 1
        return self.tokens[self.next - 1]

    def one_of(self, what: str, known: Collection[str]) -> str:
        word = self.take(what, _choices("", known)).text
        if word not in known:
            _fail(f"unknown {what} {word!r}", _choices(word, known))
        return word

    def keyword(self, *words: str) -> str:
        shown = " or ".join(words)
        word = self.take(shown, f"write: {shown}").text
        if word not in words:
            _fail(f"{word!r} stands where {shown} belongs", f"write: {shown}")
        return word

    def count(self, what: str, low: int, high: int) -> int:
        remedy = f"a whole number, {low} to {high}"
        word = self.take(what, remedy).text
        if not _FIGURE.fullmatch(word) or not low <= int(word) <= high:
            _fail(f"{word!r} is no {what}", remedy)
        return int(word)

    def duration(self, what: str, *, bare: bool = False) -> int:
        remedy = "write 500ms, 2s or 3m, at most 24 hours"
        word = self.take(what, remedy).text
        match = _DURATION.fullmatch(word + "ms" if bare and word.isdecimal() else word)
        ms = int(match[1]) * {"ms": 1, "s": 1000, "m": 60_000}[match[2]] if match else MAX_MS + 1
        if ms > MAX_MS:
            _fail(f"{word!r} is no {what}", remedy)
        return ms

    # One reader a verb

    def coin(self) -> Command:
        pence = self.count("coin in pence", 1, 100_000)
        if not self.more():
            return cmd.Coin(pence, line=self.number)
        self.keyword("for")
        return cmd.Coin(pence, self.duration("time of a coin", bare=True), line=self.number)

    def refill(self) -> Command:
        hopper = self.one_of("hopper", [name for name in self.names.devices if name.startswith("hopper_")])
        if not self.more():
            return cmd.Refill(hopper, line=self.number)
        return cmd.Refill(hopper, self.count("number of coins", 1, 10_000), line=self.number)

    def hold(self) -> Command:
        button = self.one_of("button", self.names.buttons)
        return cmd.Hold(button, self.tokens[0].text == "hold", line=self.number)

    def coins(self) -> Command:
        pence = [self.count("coin in pence", 1, 100_000)]
        while self.more():
            pence.append(self.count("coin in pence", 1, 100_000))
        return cmd.Coins(tuple(pence), line=self.number)

    def note(self) -> Command:
        pence = self.count("note in pence", 1, 1_000_000)
        if not self.more():
            return cmd.Note(pence, line=self.number)
        self.keyword("for")
        return cmd.Note(pence, self.duration("time of a note", bare=True), line=self.number)

    def press(self) -> Command:
        button = self.one_of("button", self.names.buttons)
        if not self.more():
            return cmd.Press(button, line=self.number)
        self.keyword("for")
        return cmd.Press(button, self.duration("time of a press", bare=True), line=self.number)

    def door(self) -> Command:
        return cmd.Door(self.one_of("door", self.names.doors), self.tokens[0].text == "open", line=self.number)

    def key(self) -> Command:
        return cmd.Key(self.one_of("key", self.names.keys), self.tokens[0].text == "turn", line=self.number)

    def wait(self) -> Command:
        if not self.more():
            return cmd.WaitUntil(line=self.number)
        if self.tokens[1].text != "until":
            return cmd.Wait(self.duration("duration"), line=self.number)
        self.next += 1
        state = self.one_of("state", self.names.states) if self.more() else "idle"
        if not self.more():
            return cmd.WaitUntil(state, line=self.number)
        self.keyword("within")
        return cmd.WaitUntil(state, self.duration("duration"), line=self.number)

    def power(self) -> Command:
        word = self.one_of("power command", ("on", "off", "cut"))
        if word != "cut":
            return cmd.Power(word == "on", line=self.number)
        mains = self.more() and self.tokens[self.next].text == "mains"
        self.next += mains
        if not self.more():
            return cmd.PowerCut(mains=mains, line=self.number)
        self.keyword("after")
        writes = self.count("number of NVRAM writes", 0, 100_000_000)
        self.keyword("writes", "write")
        return cmd.PowerCut(writes, mains, line=self.number)

    def memory(self) -> Command:
        return cmd.Memory(self.one_of("memory", ("blank", "commissioned")) == "blank", line=self.number)

    def fit(self) -> Command:
        self.one_of("device", ("note_acceptor",))
        return cmd.Fit(self.one_of("note acceptor", NOTE_ACCEPTORS), line=self.number)

    def fault(self) -> Command:
        device = self.one_of("device", self.names.devices)
        specs = self.names.devices[device]
        kind = self.take("kind of fault", usage(specs)).text
        given = [token.text for token in self.tokens[self.next :]]
        self.next = len(self.tokens)
        try:
            args = resolve(self.names.called(device), specs, kind, given, fill=False)
        except ValueError as error:
            _fail(str(error), f"{self.names.called(device)} takes: {usage(specs)}")
        for arg, value in zip(specs[kind].args, args, strict=False):
            if arg.free and value not in self.names.inputs:
                _fail(f"unknown {arg.name} {value!r}", _choices(str(value), self.names.inputs))
        return cmd.Fault(device, kind, args, line=self.number)

    def clear(self) -> Command:
        return cmd.Clear(self.one_of("device", self.names.devices), line=self.number)

    def console(self) -> Command:
        remedy = 'write the text, in quotes if it holds # or "'
        first = self.take("text", remedy)
        if first.quoted:
            return cmd.Console(first.text, line=self.number)
        if any(token.quoted for token in self.tokens):
            _fail("quotes within text", remedy)
        self.next = len(self.tokens)
        text = self.raw.split("#", 1)[0].strip().removeprefix("console").strip()
        return cmd.Console(text, line=self.number)

    def game(self) -> Command:
        return cmd.Game(self.one_of("game", self.names.games), line=self.number)

    def entropy(self) -> Command:
        remedy = "write bytes in hexadecimal, or: seed N, random"
        word = self.take("source", remedy).text
        if word == "random":
            return cmd.Entropy(line=self.number)
        if word == "seed":
            return cmd.Entropy(seed=self.count("seed", 0, 10**12 - 1), line=self.number)
        digits = "".join([word, *(token.text for token in self.tokens[self.next :])])
        self.next = len(self.tokens)
        if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", digits):
            _fail(f"{digits!r} is not an even number of hexadecimal digits", remedy)
        return cmd.Entropy(bytes.fromhex(digits), line=self.number)

    def want(self) -> Command:
        outcome = self.one_of("outcome", OUTCOMES)
        follows = OUTCOMES[outcome]
        if follows == "N":
            return cmd.Want(outcome, value=self.count("number of Scatters", 0, 100), line=self.number)
        if not follows or (follows.startswith("[") and not self.more()):
            return cmd.Want(outcome, line=self.number)
        if outcome != "win":
            named = self.take("name", f"write: want {outcome} {follows}").text
            if not _OUTCOME_NAME.fullmatch(named):
                _fail(f"{named!r} is no name", f"write: want {outcome} {follows}")
            if outcome == "gamble" and self.more():
                named += " " + self.take("segment", "the segment's name in the game").text
            return cmd.Want(outcome, value=named, line=self.number)
        op = self.one_of("operator", ORDER_OPS)
        word = self.take("multiple", "a multiple of the bet, such as 10x").text
        times = _times(word)
        if times is None:
            _fail(f"{word!r} is no multiple", "a multiple of the bet, such as 10x")
        return cmd.Want(outcome, op, times, line=self.number)

    def expect(self) -> Command:
        what = self.take("name", _EXPECT_NAMES).text
        stem, dot, rest = what.partition(".")
        if what == "console":
            return cmd.Expect(what, self.one_of("operator", ("contains",)), self._text(), line=self.number)
        if stem == "lamp" and dot:
            self._member("lamp", rest, self.names.lamps)
            op = self.one_of("operator", EQUAL_OPS)
            return cmd.Expect(what, op, self.one_of("lamp state", ("on", "off")), line=self.number)
        if what in CHECKS:
            op = self.one_of("operator", EQUAL_OPS[:1])
            return cmd.Expect(what, op, self.one_of("value", ("ok",)), line=self.number)
        if what in WORDS:
            op = self.one_of("operator", TEXT_OPS)
            return cmd.Expect(what, op, self._word(what), line=self.number)
        if stem == "meter" and dot:
            self._member("meter", rest, self.names.meters)
        elif what not in FIGURES:
            _fail(f"unknown name {what!r}", _EXPECT_NAMES)
        return cmd.Expect(what, self.one_of("operator", ORDER_OPS), self._figure(), line=self.number)

    def _member(self, kind: str, member: str, known: tuple[str, ...] | None) -> None:
        if known is not None and member not in known:
            _fail(f"unknown {kind} {member!r}", _choices(member, known))
        if not _NAME.fullmatch(member):
            _fail(f"{member!r} is no name of a {kind}", f"write {kind}.NAME")

    def _text(self) -> str:
        return self.take("text", 'write a word, or "text" in quotes').text

    def _word(self, what: str) -> str:
        if what == "state":
            return self.one_of("state", self.names.states)
        if what == "game":
            return self.one_of("game", self.names.games)
        return self._text()

    def _figure(self) -> int | Times:
        remedy = "a whole number (pence), or a multiple of the bet such as 10x"
        word = self.take("value", remedy).text
        times = _times(word)
        if times is not None:
            return times
        if not _FIGURE.fullmatch(word):
            _fail(f"{word!r} is no value", remedy)
        return int(word)


def _times(word: str) -> Times | None:
    match = _TIMES.fullmatch(word)
    return Times(int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))) if match else None


def _choices(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return (f"did you mean {close[0]}? " if close else "") + f"known: {' '.join(known)}"


_EXPECT_NAMES: Final = f"known: {' '.join(FIGURES)} {' '.join((*WORDS, *CHECKS))} console lamp.NAME meter.NAME"
_VERBS: Final[dict[str, Callable[[_Line], Command]]] = {
    "coin": _Line.coin,
    "coins": _Line.coins,
    "note": _Line.note,
    "refill": _Line.refill,
    "press": _Line.press,
    "hold": _Line.hold,
    "release": _Line.hold,
    "open": _Line.door,
    "close": _Line.door,
    "turn": _Line.key,
    "unturn": _Line.key,
    "wait": _Line.wait,
    "power": _Line.power,
    "memory": _Line.memory,
    "fit": _Line.fit,
    "fault": _Line.fault,
    "clear": _Line.clear,
    "console": _Line.console,
    "game": _Line.game,
    "entropy": _Line.entropy,
    "want": _Line.want,
    "expect": _Line.expect,
}
