"""What the journal writes stays within its budget, and the argument about memories holds (firmware/store/README.md)."""

import pytest

from host_tools.cabinet import games
from host_tools.soak import wear

pytestmark = pytest.mark.host_only


def test_the_journal_writes_what_its_budget_allows():
    found = wear.measure(games.packs(), plays=12)
    assert len([name for name in found if name.startswith("play of ")]) == 3
    for name, (records, written) in found.items():
        assert records >= 1
        assert 0 < written <= wear.BUDGET_BYTES[name.split(" of ")[0] if name.startswith("play") else name]
    a_year = wear.year(found)
    assert a_year["records"] > wear.PLAYS_A_MINUTE * wear.MINUTES_A_YEAR * 2  # a play is two records at least
    assert a_year["years of FRAM"] > 1000
    assert a_year["years of flash, as this log"] < 10  # a cabinet is older than that
    assert a_year["days of flash, facts in place"] < 30
