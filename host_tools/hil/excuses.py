"""Which fault may lead to which tilt: a tilt that nothing in this table explains is a fault of the firmware.

A lock-up is demanded by what has happened to the cabinet since it was last found settled (auditor.py), and by nothing else.
"""

from typing import Final

from host_tools.hil import script_commands as cmd
from host_tools.hil.script_commands import Command

# An acceptor that is not heard for a while goes on accepting, and shows only its last five events.
_ACCEPTOR: Final = frozenset({"acceptor_offline", "coins_lost"})
_HOPPER: Final = frozenset({"hopper_offline"})
# A note on its way when the acceptor is not heard may be one that nothing can be proved of.
_NOTES: Final = frozenset({"note_offline", "notes_disputed"})
_OFFLINE_NOTES: Final = frozenset({"note_offline"})
# A hopper that runs by itself gives coins, refuses orders (which then come out short, with the flags of the payout before), and
# its figures prove nothing.
_RUNS: Final = frozenset({"hopper_extra", "hopper_evidence", "hopper_empty", "hopper_jam", "hopper_sensor"})
# What refuses or ends an order and is over before the flags are read (163) leaves a short order without a reason, which the
# cabinet takes for an empty hopper.
_SHORT: Final = frozenset({"hopper_empty"})

# A line on which bytes are lost, wrong or late makes its devices seem absent.
LINES: Final[dict[str, frozenset[str]]] = {
    "cctalk": _ACCEPTOR | _HOPPER,
    "panel": frozenset({"panel_offline", "em_meter"}),
    "entropy": frozenset({"rng_no_data", "rng_repetition", "rng_proportion", "rng_device"}),
    "console": frozenset(),
    "note": frozenset(),  # and of whichever line a note acceptor is on: _NOTES
}
# Error codes of header 229 (SOURCES.md 1.4) by what they mean for the cabinet.
_LOST_CODES: Final = frozenset({6, 7, 16, 36, 39})
_FRAUD_CODES: Final = frozenset({17, 20, 23, 26, 34, 40})
_FAULT_CODES: Final = frozenset({9, 10, 11, 12, 13, 14, 15, 21, 22, *range(29, 34), 35, 255})
_ANSWERING: Final = ("silent", "busy", "nak", "slow", "lost_answers", "bad_checksum")
DEVICES: Final[dict[tuple[str, str], frozenset[str]]] = {
    ("coin_acceptor", "reset"): _ACCEPTOR,
    ("coin_acceptor", "jam"): frozenset({"coin_jam"}),
    ("coin_acceptor", "string"): frozenset({"coin_in"}),
    ("hopper", "empty"): _SHORT,
    ("hopper", "jam"): _SHORT | {"hopper_jam"},
    ("hopper", "extra_coin"): _RUNS,
    ("hopper", "runaway"): _RUNS,
    ("hopper", "miscount"): frozenset({"hopper_evidence"}),
    ("hopper", "stuck_sensor"): _SHORT | {"hopper_sensor"},
    ("hopper", "reset"): _HOPPER | _SHORT | {"hopper_evidence"},
    ("panel", "offline"): LINES["panel"],
    ("panel", "crc"): LINES["panel"],
    ("panel", "meter_unplugged"): frozenset({"em_meter"}),
    ("panel", "sense_broken"): frozenset({"em_meter"}),
    ("entropy", "stuck"): LINES["entropy"],
    ("note_acceptor", "silent"): _NOTES,
    ("note_acceptor", "reset"): _NOTES,
    ("note_acceptor", "slow"): _NOTES,
    ("note_acceptor", "lost_answers"): _NOTES,
    ("note_acceptor", "bad_crc"): _NOTES,
    ("note_acceptor", "bad_checksum"): _NOTES,
    ("note_acceptor", "busy"): _NOTES,
    ("note_acceptor", "nak"): _NOTES,
    ("note_acceptor", "forget"): _NOTES,
    ("note_acceptor", "version"): _NOTES,
    ("note_acceptor", "count"): _NOTES,
    ("note_acceptor", "key"): _NOTES | {"note_fault"},
    ("note_acceptor", "late"): frozenset({"notes_disputed"}),
    ("note_acceptor", "lose"): frozenset({"notes_disputed"}),
    ("note_acceptor", "repeat"): frozenset({"notes_disputed"}),
    ("note_acceptor", "swap"): frozenset({"notes_disputed"}),
    ("note_acceptor", "fall_back"): frozenset({"notes_disputed"}),
    ("note_acceptor", "pull"): frozenset({"note_fraud", "notes_disputed"}),
    ("note_acceptor", "fraud"): frozenset({"note_fraud"}),
    ("note_acceptor", "path"): frozenset({"note_fault"}),
    ("note_acceptor", "jam"): frozenset({"note_jam", "notes_disputed"}),
    ("note_acceptor", "stacker"): frozenset({"note_full", "note_stacker"}),
}


def demanded(command: Command, note_line: str = "note") -> frozenset[str]:
    """Tilts that this command may bring about, now or later. `note_line`: where the note acceptor is."""
    if isinstance(command, cmd.Door):
        return frozenset({f"door_{command.door}"}) if command.opened else frozenset()
    if isinstance(command, cmd.Fault):
        notes = _NOTES if command.device == note_line else frozenset()
        return _of_fault(command, note_line) | notes
    if isinstance(command, (cmd.PowerCut, cmd.Power)):
        return frozenset({"coins_lost"})  # with the mains the acceptor loses its event buffer
    return frozenset()


def _of_fault(fault: cmd.Fault, note_line: str) -> frozenset[str]:
    device, kind = fault.device, fault.kind
    if device in LINES and (device, kind) not in DEVICES and kind != "stuck":
        return LINES[device]
    if kind == "stuck" and device == "panel":
        return frozenset({f"door_{fault.args[0]}"})
    if device == "coin_acceptor" and kind in ("error", "swallow"):
        return _of_code(int(fault.args[-1]) if kind == "error" or len(fault.args) > 1 else 0)
    if (device, kind) == ("note_acceptor", "event"):
        return _of_bill_event(int(fault.args[0]))
    family = "hopper" if device.startswith("hopper") else device
    if kind == "slow" and (family in ("hopper", "coin_acceptor") or (family, note_line) == ("note_acceptor", "cctalk")):
        # Its late answers run into those of the others on the line, and those wait; after a start they may be missed.
        others = _OFFLINE_NOTES if note_line == "cctalk" else frozenset[str]()
        return LINES["cctalk"] | others | DEVICES.get((family, kind), frozenset())
    if kind in _ANSWERING and family == "hopper":
        return _HOPPER | (_SHORT if kind in ("busy", "nak") else frozenset())
    if kind in _ANSWERING and family == "coin_acceptor":
        return _ACCEPTOR
    return DEVICES.get((family, kind), frozenset())


def _of_code(code: int) -> frozenset[str]:
    """Tilts of an error code of the acceptor (ccTalk header 229)."""
    if code in _LOST_CODES:
        return frozenset({"coins_lost"})
    if code in _FRAUD_CODES:
        return frozenset({"coin_in"})
    return frozenset({"coin_jam"}) if code in _FAULT_CODES else frozenset()


def _of_bill_event(code: int) -> frozenset[str]:
    """Tilts of an event without a bill type (ccTalk header 159, SOURCES.md 1.7)."""
    if code in (6, 7, 15, 16):
        return frozenset({"note_jam"})
    if code in (8, 9, 17, 18, 19):
        return frozenset({"note_fraud"})
    found = {1: "notes_disputed", 11: "note_stacker", 13: "note_fault", 14: "note_full", 21: "notes_disputed"}.get(code)
    return frozenset({found}) if found else frozenset()
