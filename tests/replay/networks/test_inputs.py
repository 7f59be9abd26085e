"""Every input of the networks has its own limit of age."""

import pytest

from replay.networks.inputs import INPUTS


def test_lines_grow_stale_and_what_has_no_newer_figure_does_not() -> None:
    assert len({input_.id for input_ in INPUTS}) == len(INPUTS)
    assert [input_.id for input_ in INPUTS if input_.is_stale("2027-10")] == []
    assert [input_.id for input_ in INPUTS if input_.is_stale("2027-11")] == ["lines"]
    assert INPUTS[0].stale_sentence("2027-10") is None
    assert all(input_.source and input_.what for input_ in INPUTS)


def test_a_month_is_a_year_and_a_month() -> None:
    with pytest.raises(ValueError, match="no month"):
        INPUTS[0].age_months("2026-1")
