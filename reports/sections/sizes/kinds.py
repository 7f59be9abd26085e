"""Shares that fit into the window by what a response is, and by the protocol that it came over."""

from collections.abc import Iterator, Sequence

from recordings.pages.same_sites import sites_of
from releases.catalogue import Release
from releases.formatting import grouped, quantity
from releases.strata.cells import Items, read_items
from releases.strata.sample import DIMENSION_LABELS, WHOLE
from reports.sections.shape import Column, Figure, Row, Table, interval, is_less
from schema.vocabulary import VALUE_LABELS

QUERY = """
SELECT {by} AS kind, count(*) AS known, 100 * avg((size_bytes <= {window})::INT) AS share
FROM 'item.parquet' WHERE measure = 'responses' AND page_kind = 'home' AND size_bytes IS NOT NULL GROUP BY ALL
"""

LEAST_PERCENT = 1.0
"""Least part of the responses that is stated as a kind."""

COLUMNS = (
    Column(id="kind", title="responses", kind="text"),
    Column(id="by", title="by", kind="text"),
    Column(id="known", title="of known size", kind="count"),
    Column(id="share", title="share that fits", unit="%", kind="interval"),
)


def kinds_of(release: Release, *, iw: int, mss: int) -> Iterator[tuple[Figure, Table]]:
    """Yield figure and table of kinds with enough sites."""
    window = iw * mss
    items = read_items(release.file("item"), "responses", sites_of(release))
    rows = [row for by in ("resource_type", "protocol") for row in kind_rows(items, by, window=window)]
    types = [row for row in rows if row["by"] == DIMENSION_LABELS["resource_type"]]
    if len(types) < 2:
        return
    query = QUERY.format(by="resource_type", window=window).strip()
    yield (
        Figure(
            id="fig-kinds",
            title=title_of(types, iw=iw),
            caption=f"Share of responses of at most {grouped(window)} bytes, with 95 % interval.",
            drawing="dots",
            x="share",
            y="kind",
            series="by",
            columns=COLUMNS,
            rows=tuple(rows),
            query=query,
            domain=(0.0, 100.0),
        ),
        Table(
            id="kinds",
            is_folded=True,
            title=f"Share that fits into IW {iw}, by type and protocol",
            columns=COLUMNS,
            rows=tuple(rows),
            query=query,
        ),
    )


def title_of(types: Sequence[Row], *, iw: int) -> str:
    """Tell the most and the least that fits, where their intervals lie apart."""
    most, least = types[0], types[-1]
    if not is_less(least["share"], most["share"]):
        return f"Responses that fit into IW {iw}, by type and protocol"
    shares = [quantity(row["share"]["estimate"], "%", 2) for row in (most, least)]
    return f"IW {iw} holds {shares[0]} of {most['kind']}, but {shares[1]} of {least['kind']}"


def kind_rows(items: Items, by: str, *, window: int) -> list[Row]:
    """Return each kind's share that fits into `window` bytes, the largest first."""
    every = items.sample(WHOLE).cdf.known
    rows = []
    for kind, stratum in items.strata_by(by).items():
        sample = items.sample(stratum)
        known = sample.cdf.known
        if kind == "other" or 100 * known < LEAST_PERCENT * every or not sample.has_intervals:
            continue
        (share,) = sample.shares_up_to([window])
        name, estimate = VALUE_LABELS[by][kind], interval(share.times(100))
        rows.append({"kind": name, "by": DIMENSION_LABELS[by], "known": known, "share": estimate})
    return sorted(rows, key=lambda row: -row["share"]["estimate"])
