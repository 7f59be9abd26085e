"""Harm to others that a full replay measures beside stages, where the stages have no harm conditions."""

import dataclasses

import numpy as np
import pytest

from replay.networks.copula import PAPER_POPULATIONS, PAPER_PROFILES
from reports.recommendation.harm_conditions import CORE
from reports.recommendation.rule import RULE, Role
from reports.sections.arms import WholeReplay, of_replay
from reports.sections.evidence import TOO_FEW, Evidence
from reports.sections.harm import others_section
from reports.sections.networks.by_network import by_network_section
from reports.statistics.paired_loads import pair_loads
from tests.factories.made_up_report import PAGES, PROFILE_IDS, replay_cells

IDLE = next(one for one in CORE if one.kind == "idle")
ROLES: tuple[Role, ...] = ("average", "slow")


def evidence(*, with_harm: bool) -> Evidence:
    """Loads at four windows; under the harm condition, those at IW 10 and 16 alone,
    which delay a probe by 6 ms more."""
    delayed = [
        row | {"probe_p95_ms": 60.0 + row["iw"]}
        for row in replay_cells().to_pylist()
        if row["iw"] in (10, 16) and row["route"] == "own"
    ]
    cells = replay_cells()
    harm = pair_loads(type(cells).from_pylist(delayed, schema=cells.schema), congestion_control="cubic")
    whole = WholeReplay(
        cells=cells,
        profiles=[dataclasses.asdict(one) for one in PAPER_PROFILES],
        populations=dict(zip(ROLES, (dict(one.weights) for one in PAPER_POPULATIONS), strict=True)),
        harm_loads={IDLE.id: harm} if with_harm else {},
        rule=dataclasses.replace(RULE, harm_conditions=(IDLE,)),
        incumbent=10,
    )
    ((_, found),) = of_replay(whole, query="firstflight report build")
    return found


def test_harm_is_told_by_the_replay_beside_and_said_to_decide_nothing() -> None:
    section = others_section(evidence(with_harm=False), beside=evidence(with_harm=True))
    assert section.missing is None
    (table,) = section.tables
    (row,) = table.rows
    assert (row["window"], row["condition"], row["reading"]) == ("IW 16", IDLE.id, "within the bound")
    assert row["worse"]["estimate"] == pytest.approx(6.0)
    assert f"on {PAGES} pages over {len(PROFILE_IDS)} networks, and decide nothing" in section.notes[0]
    assert TOO_FEW.removesuffix(" to tell") in section.notes[0]


def test_harm_by_the_loads_that_decide_needs_none_beside() -> None:
    section = others_section(evidence(with_harm=True), beside=None)
    assert section.tables
    assert section.notes == ()


def test_without_harm_conditions_in_either_replay_nothing_is_measured() -> None:
    plain = evidence(with_harm=False)
    assert "Not measured" in str(others_section(plain, beside=plain).missing)


def test_the_figure_has_each_window_in_the_condition_that_is_worst_for_it() -> None:
    found = evidence(with_harm=True)
    deep = next(one for one in CORE if one.kind == "idle" and one.id != IDLE.id)
    milder = dataclasses.replace(
        found.draws[IDLE.id],
        values={
            name: array - 3.0 * np.arange(array.shape[1]) if name == "probe_p95_ms" else array
            for name, array in found.draws[IDLE.id].values.items()
        },
    )
    both = dataclasses.replace(
        found,
        draws={deep.id: milder, **found.draws},
        rule=dataclasses.replace(found.rule, harm_conditions=(deep, IDLE)),
    )
    section = others_section(both)
    assert {row["condition"]: row["worse"]["estimate"] for row in section.tables[0].rows} == pytest.approx(
        {deep.id: 3.0, IDLE.id: 6.0}
    )
    (drawn,) = section.figures[0].rows
    assert (drawn["condition"], drawn["times"]["estimate"]) == (IDLE.id, pytest.approx(6.0 / 20.0))


def test_windows_of_few_loads_are_left_out_by_network_and_named() -> None:
    found = evidence(with_harm=False)
    draws = found.draws["ordinary"]
    lost = draws.windows.index(30)
    times = draws.values["page_ms"].copy()
    times[len(times) // 20 :, lost] = np.nan
    few = dataclasses.replace(
        found, draws={"ordinary": dataclasses.replace(draws, values={**draws.values, "page_ms": times})}
    )
    assert set(found.windows) - set(few.well_known) == {30}
    assert found.well_known == found.windows
    section = by_network_section(few)
    assert "IW 30" not in {row["window"] for table in section.tables for row in table.rows}
    assert section.notes[-1].endswith(": IW 30.")
