"""The same pages over HTTP/1.1 with six connections a host and over HTTP/2 with one, as replayed arms."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from releases.interval import Interval
from replay.recipes.http_version import HTTP1, HTTP2
from reports.sections.evidence import Evidence, mean_of, saved_percent, shorter_percent
from reports.sections.shape import COMPARED, Column, Figure, Row, Table, interval

NAMES = {HTTP1: "HTTP/1.1", HTTP2: "HTTP/2"}

COLUMNS = (
    Column(id="window", title="initial window", kind="text"),
    Column(id="http", title="protocol", kind="text"),
    Column(id="connections", title="connections of a page", kind="interval"),
    Column(id="page_ms", title="page time, geometric mean", unit="ms", kind="interval"),
    Column(id="saved", title="saved against the window in force", unit="%", kind="interval"),
    Column(id="shorter", title="shorter than over HTTP/1.1", unit="%", kind="interval"),
)


def http_arms(arms: Mapping[str, Evidence]) -> tuple[Figure, Table]:
    """A figure and a table of page times at each window over either version.

    `arms` has both (`reports.sections.arms.by_http`).
    """
    one = arms[HTTP1]
    rows = tuple(_rows(arms))
    source = f"{one.source}, over either version"
    return (
        Figure(
            id="fig-http",
            title="Page time over HTTP/1.1 and over HTTP/2, by initial window.",
            caption="The same pages over the same networks. Over HTTP/1.1 each of up to six connections "
            "to a host brings a window of its own, over HTTP/2 one connection brings one.",
            drawing="intervals",
            x="window",
            y="page_ms",
            series="http",
            columns=COLUMNS,
            rows=rows,
            source=source,
            query=one.query,
        ),
        Table(
            id="http-arms",
            title="The same pages over HTTP/1.1 and over HTTP/2",
            columns=COLUMNS,
            rows=rows,
            source=source,
            query=one.query,
            notes=(
                "Over pages and weighted networks, with 95 % intervals; page times and their ratios are "
                "geometric means. Sizes are as recorded under either version. Hosts that shared an HTTP/2 "
                "connection when they were recorded stay one host, and hosts without TLS stay on HTTP/1.1.",
            ),
        ),
    )


def _rows(arms: Mapping[str, Evidence]) -> Iterator[Row]:
    for window in windows_of(arms):
        for version, name in NAMES.items():
            one = arms[version]
            is_in_force = window == one.incumbent
            yield {
                "window": f"IW {window}",
                "http": name,
                "connections": interval(_connections(one, window)),
                "page_ms": interval(_page_ms(one, window)),
                "saved": COMPARED
                if is_in_force
                else interval(saved_percent(one, window, one.weights["average"])),
                "shorter": interval(shorter_over_http2(arms, window)) if version == HTTP2 else COMPARED,
            }


def windows_of(arms: Mapping[str, Evidence]) -> Sequence[int]:
    """The windows that both arms were replayed at."""
    return sorted(set.intersection(*({one.incumbent, *one.windows} for one in arms.values())))


def _connections(one: Evidence, window: int) -> Interval | None:
    draws = one.draws["ordinary"]
    counts = (draws.at("connections", window),)
    return mean_of(draws, one.weights["average"], one.rule, counts, lambda mine: mine)


def _page_ms(one: Evidence, window: int) -> Interval | None:
    """Geometric mean: a few large pages would rule any other, and its interval would reach below zero."""
    draws = one.draws["ordinary"]
    times = (draws.at("page_ms", window),)
    found = mean_of(draws, one.weights["average"], one.rule, times, lambda mine: np.log(mine))
    if found is None:
        return None
    return Interval(*(float(np.exp(end)) for end in (found.estimate, found.lower, found.upper)))


def shorter_over_http2(arms: Mapping[str, Evidence], window: int) -> Interval | None:
    """How much shorter page loads are over HTTP/2 than over HTTP/1.1, in percent.

    None where the arms have not the same loads.
    """
    one, two = arms[HTTP1], arms[HTTP2]
    ours, theirs = two.draws["ordinary"], one.draws["ordinary"]
    is_paired = (
        one.visits == two.visits
        and np.array_equal(ours.pages, theirs.pages)
        and np.array_equal(ours.networks, theirs.networks)
    )
    if not is_paired:
        return None
    times = (ours.at("page_ms", window), theirs.at("page_ms", window))
    return shorter_percent(ours, two.weights["average"], two.rule, times)
