"""The table of shares: what is stated, and what is said to be unknown."""

import dataclasses

from api.routes.distributions import Distribution
from api.routes.pages import TEMPLATES
from api.stored.held import Points
from releases.cdf import Fit
from releases.strata.statistics import FEW_SITES

SHARES = TEMPLATES.get_template("shares.html").module.shares  # type: ignore[attr-defined]
STATED = Distribution(
    measure="pages",
    known=2,
    unknown=0,
    sites=1,
    fits=tuple(Fit(iw, iw * 1430, 0, 0.0) for iw in (3, 10)),
    quantiles=(),
    points=Points([(1, 0.5), (2, 1.0)], ""),
    interval_unknown=FEW_SITES,
)


def test_a_share_of_which_most_sizes_are_unknown_is_not_stated() -> None:
    few = dataclasses.replace(STATED, unknown=3)
    assert SHARES([STATED]).count('class="fill"') == 2
    assert 'class="fill"' not in SHARES([few])
    assert "3 unknown" in SHARES([few])


def test_a_measure_of_which_nothing_is_known_has_no_row() -> None:
    table = SHARES([STATED, dataclasses.replace(STATED, measure="hosts", known=0, unknown=9)])
    assert table.count('<th scope="row"') == 1
    assert "Unknown here: hosts." in table
