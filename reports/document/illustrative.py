"""Reasons why a report is illustrative: not evidence about the live web of its year."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.document.report_inputs import ReportInputs

FRESH_MONTHS = 24
"""Age on the crawl's first day, in months, beyond which a population makes a report illustrative."""


def illustrative_because(inputs: ReportInputs) -> list[str]:
    """Every reason; empty if the report is evidence."""
    crawl = inputs.release.manifest.crawl
    because = []
    if crawl.kind != "web":
        because.append("the crawl is of the bundled local web, not of live sites")
    old = [
        one["id"]
        for one in (inputs.replay.populations if inputs.replay else [])
        if age_in_months(one["measured"], crawl.month) > FRESH_MONTHS
    ]
    if old:
        because.append(f"the network populations {', '.join(old)} are more than 24 months old")
    return because


def age_in_months(measured: str, month: str) -> int:
    """Months from a measurement, dated by a month or a year (then its January), to `month`.

    >>> age_in_months("2024-11", "2026-11"), age_in_months("2010", "2026-11")
    (24, 202)
    """
    (year, at), (since, then) = ((int(text[:4]), int(text[5:7] or 1)) for text in (month, measured))
    return 12 * (year - since) + at - then
