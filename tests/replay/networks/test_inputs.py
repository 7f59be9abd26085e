"""Every input of the networks has its own limit of age."""

import pytest

from replay.networks.inputs import INPUTS


def test_lines_grow_stale_and_what_has_no_newer_figure_says_its_year() -> None:
    assert len({one.id for one in INPUTS}) == len(INPUTS)
    assert [one.id for one in INPUTS if one.is_stale("2027-10")] == []
    assert [one.id for one in INPUTS if one.is_stale("2027-11")] == ["lines"]
    assert {one.id: one.age_limit for one in INPUTS}["queues"] == "the newest published, of 2023"
    assert all(one.source and one.what for one in INPUTS)


def test_a_month_is_a_year_and_a_month() -> None:
    with pytest.raises(ValueError, match="no month"):
        INPUTS[0].age_months("2026-1")
