"""Steps that the stories of note acceptors share, whatever they speak: a note goes in, all comes to rest, books against truth."""

from typing import Any

import pytest

from tests.hal.bill_rig import BillRig
from tests.hal.ssp_rig import NoteRig

SETTLED_MS = 25_000
BLIND_MS = 80_000  # without counters a late event has a minute to come
LIFE_MS = 3200  # from the slot to the stacker, with some time before and behind
STEP_MS = 83  # no divisor of the time between two polls: every part of an exchange is hit

BOTH = pytest.mark.parametrize("counters", [True, False])
CUTS = ("host", "device", "mains")
RIGS = {"ssp": NoteRig, "cctalk": BillRig}


def each_device(starts: bool = False) -> pytest.MarkDecorator:
    """Parameters `fit` and `device`: a rig, and the options of each kind of device that its protocol knows.

    starts: in all combinations with what it tells of its start.
    """
    kinds: dict[str, tuple[type[NoteRig], dict[str, Any]]] = {}
    for name, fit in RIGS.items():
        for device in fit.DEVICES:
            for start in fit.STARTS if starts else ({},):
                options = device | start
                kinds["-".join([name, *(f"{option}={value}" for option, value in options.items())])] = fit, options
    return pytest.mark.parametrize(("fit", "device"), list(kinds.values()), ids=list(kinds))


def play(rig: NoteRig, pence: int = 2000, ms: int = SETTLED_MS) -> NoteRig:
    """A note goes in; then all comes to rest."""
    rig.insert(pence)
    rig.run(ms)
    return rig


def moving(rig: NoteRig, pence: int = 2000) -> NoteRig:
    """A note goes in and is on its way to the stacker."""
    rig.insert(pence)
    rig.run_until(lambda: rig.model.note is not None and rig.model.note.place == "moving")
    return rig


def settled(rig: NoteRig, *, disputes: int = 0) -> None:
    """Nothing in hand, nothing in the path, every note accounted for once."""
    journal, model = rig.journal, rig.model
    at = state(rig)
    assert model.note is None, at
    assert journal.pending is None, at
    assert rig.host is not None, at
    assert not rig.host.pending(), at
    assert len(journal.disputed) == disputes, at
    if not disputes:
        assert sum(journal.credited) == sum(model.stacked), at


def inserted(fit: type[NoteRig], **options: Any) -> NoteRig:
    """A note has just gone in, and the steps of the host are counted from here."""
    rig = fit(**options).ready()
    rig.run(500)
    rig.steps = 0
    rig.insert(2000)
    return rig


def judge(rig: NoteRig, proved: bool, when: object) -> None:
    """Books against truth behind a cut. `proved`: nothing may be disputed."""
    rig.run(SETTLED_MS)
    if rig.journal.pending is not None and not proved:
        rig.run(rig.DOUBT_MS - SETTLED_MS)
    journal, model = rig.journal, rig.model
    at = f"{when}: {state(rig)}"
    assert model.note is None, at
    assert journal.pending is None, at
    assert rig.host is not None, at
    assert rig.host.accepting, at
    assert len(model.stacked) + len(model.returned) == 1, at
    credited, stacked = sum(journal.credited), sum(model.stacked)
    if proved:
        assert credited == stacked, at
        assert not journal.disputed, at
    else:
        assert credited == stacked or (credited < stacked and journal.disputed), at


def state(rig: NoteRig) -> str:
    return f"{rig.journal}, stacked {rig.model.stacked}, returned {rig.model.returned}, told {rig.told}"
