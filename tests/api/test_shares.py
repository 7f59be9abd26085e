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
    quantiles=((50, 1), (95, 2)),
    points=Points([(1, 0.5), (2, 1.0)], ""),
    interval_unknown=FEW_SITES,
)


def test_a_share_of_which_most_sizes_are_unknown_is_not_stated() -> None:
    few = dataclasses.replace(STATED, unknown=3)
    table = SHARES([STATED, dataclasses.replace(few, measure="hosts")])
    assert table.count('<th scope="row"') == 1
    assert table.count('class="fill"') == 2
    assert "too few sizes are known: hosts (2 of 5)." in table
