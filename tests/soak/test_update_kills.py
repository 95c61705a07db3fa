"""Kills in updates: a sound loader passes, one that tries an application twice is found."""

import pytest

from firmware.update.slots import Slots
from host_tools.cabinet import games
from host_tools.soak import update_kills

pytestmark = pytest.mark.host_only


def test_killed_in_updates():
    report = update_kills.run(games.packs(), 8, 2, "host")
    assert report.violations == []
    assert (report.kills, sum(report.steps.values()), sum(report.started.values())) == (8, 8, 8)
    assert report.confirmed
    print(f"\n{vars(report)}")


def test_an_application_that_is_tried_again_is_found(monkeypatch):
    whole_started = Slots.started
    monkeypatch.setattr(Slots, "started", lambda self, slot, trial: whole_started(self, slot, False))
    report = update_kills.run(games.packs(), 12, 2, "host")
    assert report.violated
    assert "was neither confirmed nor to be tried" in report.violations[0]
