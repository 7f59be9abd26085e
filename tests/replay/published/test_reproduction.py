from typing import Any

import pytest

from replay.published.document import document, tables
from replay.published.reproduction import (
    ComparedValue,
    Criterion,
    Reproduction,
    at_least,
    at_most,
    error_criteria,
    spearman,
)


def row(published: float | None, ours: float) -> ComparedValue:
    return ComparedValue(what="a value", unit="s", published=published, ours=ours)


def reproduction(*criteria: Criterion, **values: Any) -> Reproduction:
    fields = {"rows": (row(2.0, 2.1), row(None, 1.0)), **values}
    return Reproduction(
        id="one",
        title="A title",
        source="A source",
        method="A way.",
        criteria=criteria,
        reading="A reading.",
        **fields,
    )


GOOD = at_most("small", 1, 2)
BAD = at_least("large", 1, 2)


def test_a_result_is_reproduced_when_every_criterion_is_met_and_there_is_one() -> None:
    assert [reproduction(*criteria).reproduced for criteria in ((GOOD,), (GOOD, BAD), ())] == [
        True,
        False,
        False,
    ]


def test_an_unknown_published_value_has_no_difference() -> None:
    assert [compared.difference for compared in (row(2.0, 3.0), row(None, 3.0), row(0.0, 3.0))] == [
        0.5,
        None,
        None,
    ]


def test_errors_are_bounded_in_the_median_and_at_the_90th_percentile() -> None:
    rows = [row(64.0, 64.0 + error) for error in range(11)] + [row(None, 7.0)]
    median, p90 = error_criteria(rows, what="w", median=5 / 64, p90=8 / 64)
    assert (median.measured, p90.measured) == (5 / 64, 9 / 64)
    assert (median.passed, p90.passed) == (True, False)


@pytest.mark.parametrize(
    ("ours", "published", "rho"),
    [([1, 2, 3, 4], [2, 4, 6, 8], 1.0), ([1, 2, 3, 4], [1, 3, 2, 4], 0.8), ([1, 1, 2, 3], [1, 1, 2, 3], 1.0)],
)
def test_spearman_correlates_ranks(ours: list[float], published: list[float], rho: float) -> None:
    assert spearman(ours, published) == pytest.approx(rho)


def test_the_page_says_each_verdict_with_its_reason() -> None:
    page = document([reproduction(GOOD, BAD)], commit="abc", figures={"one": "images/one.svg"})
    for line in (
        "| `one` | A title | not reproduced: 1 of 2 checks failed |",
        "**Not reproduced: 1 of 2 checks failed.** A reading.",
        "![A title: published values beside ours](images/one.svg)",
        "| large | 1 | ≥ 2 |",
        "Values: [one.csv](reproduction/one.csv).",
    ):
        assert line in page.splitlines()


def test_tables_have_every_check_and_value() -> None:
    assert tables([reproduction(GOOD, BAD)]) == {
        "checks.csv": "result,check,measured,is,bound,verdict\n"
        "one,small,1,at most,2,passed\none,large,1,at least,2,failed\n",
        "one.csv": "value,unit,published,ours,difference\na value,s,2,2.1,+5.0%\na value,s,,1,\n",
    }
