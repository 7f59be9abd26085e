"""The table of shares: what is stated, and what is said to be unknown."""

from api.routes.answers import DistributionAnswer, FitAnswer, QuantileAnswer
from api.routes.pages import TEMPLATES
from releases.strata.statistics import FEW_SITES

SHARES = TEMPLATES.get_template("parts.html").module.shares  # type: ignore[attr-defined]
STATED = DistributionAnswer(
    measure="pages",
    definition="",
    known=2,
    unknown=0,
    sites=1,
    fits=[FitAnswer(iw=iw, window_bytes=iw * 1430, count=0, share=0.0) for iw in (3, 10)],
    quantiles=[QuantileAnswer(percent=50, size_bytes=1), QuantileAnswer(percent=95, size_bytes=2)],
    points=[],
    interval_unknown=FEW_SITES,
)


def test_a_share_of_which_most_sizes_are_unknown_is_not_stated() -> None:
    table = SHARES([STATED, STATED.model_copy(update={"unknown": 3, "measure": "hosts"})])
    assert table.count('<th scope="row"') == 1
    assert table.count('class="fill"') == 2
    assert "too few sizes are known: hosts (2 of 5)." in table
