"""Estimands: the quantities in which a window's gain is stated.

The first decides, the others stand beside it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimand:
    """A time of a page load. Two windows are compared by the change of it: the geometric mean over pages of
    the ratio of their times, less 1."""

    # Stable: every report contains it.
    id: str
    title: str
    column: str
    """Column of the cells."""
    is_primary: bool = False
    """True for the estimand that decides."""
    source: str


ESTIMANDS: tuple[Estimand, ...] = (
    Estimand(
        id="page_time",
        title="page time: to the last byte of the page",
        column="page_ms",
        is_primary=True,
        source="ours: what a visitor waits for. Pages are equal, so that no large page decides alone",
    ),
    Estimand(
        id="document_time",
        title="document time: to the last byte of the main document",
        column="document_ms",
        source="ours: Dukkipati et al. 2010 measured single responses of web search, which are documents",
    ),
    Estimand(
        id="render_blocking_time",
        title="time to the last render-blocking byte",
        column="render_blocking_ms",
        source="HTML standard, render-blocking mechanism: a browser paints once style sheets and "
        "blocking scripts have arrived",
    ),
    Estimand(
        id="response_latency",
        title="mean latency of a response",
        column="response_latency_ms",
        source="Dukkipati et al. 2010, the unit of Tables 3 and 8",
    ),
)
"""Tails of page time are margins of harm (`reports.recommendation.rule`): percentiles 95, 99 and 99.9."""
