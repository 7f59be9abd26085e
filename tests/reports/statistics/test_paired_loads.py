"""Pairing of replay cells."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from replay.runs.conditions import Conditions
from replay.runs.initial_window import Paced
from reports.recommendation.estimates import estimates_of
from reports.recommendation.window_family import NotEstimable
from reports.statistics.paired_loads import CellsError, pair_loads
from tests.factories.made_up import POPULATIONS, cells
from tests.factories.recommendations import QUICK


def test_a_refused_cell_excludes_its_pair() -> None:
    """Page 3 has loads at IW 10 only: unpaired, they would move the mean."""
    lone = frozenset(("page03.test", 16, seed) for seed in range(1, 5))
    loads = pair_loads(cells(gain_percent={10: 0, 16: 4}, refused=lone), congestion_control="cubic")
    estimates = estimates_of(loads, POPULATIONS, rule=QUICK)
    assert estimates.pages == 29
    found = estimates.gains[16, 10]
    assert not isinstance(found, NotEstimable)
    assert found.pages == 29


def test_paced_loads_are_windows_of_their_own_where_they_are_asked_for() -> None:
    table = cells(gain_percent={10: 0, 16: 4})
    paced = table.filter(pc.field("iw") == 16).to_pylist()
    both = pa.concat_tables(
        [table, pa.Table.from_pylist([row | {"pacing": True, "page_ms": 7.0} for row in paced], table.schema)]
    )
    assert pair_loads(both, congestion_control="cubic").windows == (10, 16)
    loads = pair_loads(both, congestion_control="cubic", with_paced=True)
    assert loads.windows == (10, Paced(16), 16)
    assert set(loads.at("page_ms", Paced(16)).ravel()) == {7.0}
    assert 7.0 not in loads.at("page_ms", 16)
    alone = pair_loads(both, congestion_control="cubic", conditions=Conditions(pacing=True), with_paced=True)
    assert alone.windows == (16,)


def test_cells_of_another_congestion_control_are_left_out() -> None:
    table = cells(gain_percent={10: 0, 16: 4})
    assert pair_loads(table, congestion_control="bbr").pages == ()


def test_a_cell_that_occurs_twice_is_refused() -> None:
    table = cells(gain_percent={10: 0})
    with pytest.raises(CellsError, match="occurs twice"):
        pair_loads(pa.concat_tables([table, table.slice(0, 1)]), congestion_control="cubic")
