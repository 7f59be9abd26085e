"""What changed over the sites that this release shares with releases of other years."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from recordings.pages.same_sites import values_of
from releases.catalogue import Release
from releases.changes import END_LABELS, ENDS, MEASURES, RESPONSES, Change, Selection, Values, compare_values
from releases.formatting import grouped, interval_text
from reports.sections.shape import Column, Figure, Row, Table, interval, is_told

SHOWN = [RESPONSES[kind] for kind in ("all", "main", "image")]
"""Responses that pages show; the data have every kind."""

SHOWN_WINDOWS = ("IW 10", "IW 30")

BASE = (
    Column(id="since", title="since", kind="text"),
    Column(id="responses", title="responses", kind="text"),
    Column(id="sizes", title="sizes", kind="text"),
    Column(id="sites", title="sites", kind="count"),
)


DRAWN = (RESPONSES["all"], RESPONSES["image"])
"""Responses that the figure shows."""

NOTE = (
    "Lists differ from year to year, so that only the same sites say how the web changed. Redirects are "
    "left out, since not every recorder counted them, and nothing is stated of fewer than 20 sites."
)


def same_sites(
    release: Release, others: Sequence[Release], *, iw: int, mss: int, licence: str
) -> Iterator[tuple[Figure, Table, Table]]:
    """Yield figure and tables of changes since each release with enough sites in common."""
    asked = Selection(mss=mss)
    now = values_of(release, asked) if others else {}
    of_other = [(other, values_of(other, asked)) for other in others]
    stated = [
        (other, [each for each in compare_values(values, now, asked) if each.change])
        for other, values in of_other
    ]
    repeated = tuple(
        repeatability(pair, iw=iw, asked=asked)
        for pair in itertools.combinations(of_other, 2)
        if pair[0][0].crawl.month == pair[1][0].crawl.month
    )
    shares = in_order(row for other, every in stated for row in share_rows(other, every))
    sizes = in_order(row for other, every in stated for row in size_rows(other, every))
    drawn = [row for row in shares if row["window"] == f"IW {iw}" and row["responses"] in DRAWN]
    if not drawn:
        return
    months = sorted({str(row["since"])[:7] for row in (*shares, *sizes)} | {release.crawl.month})
    source = f"firstflight, recordings of {', '.join(months)}. {licence}."
    query = f"firstflight release changes FROM {release.crawl} --measure share"
    yield (
        years_figure(drawn, iw=iw, now=release.crawl.month, source=source, query=query),
        Table(
            id="same-sites-shares",
            is_folded=True,
            title="Share that fits into each window, on the same sites",
            columns=(
                *BASE,
                Column(id="window", title="window", kind="text"),
                Column(id="before", title="then", unit="%"),
                Column(id="now", title="now", unit="%"),
                Column(id="change", title="change", unit="pp", kind="interval"),
            ),
            rows=tuple(shares),
            source=source,
            query=query,
            notes=(
                NOTE,
                *filter(None, repeated),
                f"Shares: {MEASURES['share']}. Sizes: {ENDS['bodies']}; {ENDS['headers']}.",
            ),
            shown=sum(map(is_shown, shares)),
        ),
        Table(
            id="same-sites-bytes",
            is_folded=True,
            title="Sizes of responses and bytes a page, on the same sites",
            columns=(
                *BASE,
                Column(id="measure", title="measure", kind="text"),
                Column(id="before", title="then", unit="B", kind="count"),
                Column(id="now", title="now", unit="B", kind="count"),
                Column(id="change", title="ratio", kind="interval"),
            ),
            rows=tuple(sizes),
            source=source,
            query=f"firstflight release changes FROM {release.crawl}",
            notes=(f"Median response: {MEASURES['quantile']}. Bytes a page: {MEASURES['page_bytes']}.",),
            shown=sum(map(is_shown, sizes)),
        ),
    )


def repeatability(
    pair: tuple[tuple[Release, Values], tuple[Release, Values]], *, iw: int, asked: Selection
) -> str:
    """Say how well two recordings of one month repeat; empty with too few sites."""
    (first, before), (second, after) = pair
    changes = [
        each
        for each in compare_values(before, after, asked)
        if each.change and (each.responses, each.measure, each.iw) == ("all", "share", iw)
    ]
    if not changes:
        return ""
    days = " and ".join(str((release.recording or {}).get("recorded")) for release in (first, second))
    shown = " and ".join(
        interval_text(each.change.times(100), "pp")
        + ("" if each.end == "whole" else f" ({END_LABELS[each.end]})".replace("'", "\u2019"))
        for each in changes
        if each.change
    )
    return (
        f"How well recordings repeat: {grouped(changes[0].sites)} sites were recorded twice by different "
        f"people ({days}); their share within IW {iw} differs by {shown}."
    )


def years_figure(rows: Sequence[Row], *, iw: int, now: str, source: str, query: str) -> Figure:
    first = rows[0]
    year = first["since"][:4]
    title = f"Over the years: how much of the same sites\u2019 responses IW {iw} holds"
    if is_told(first["change"]):
        comparison = "more" if first["change"]["estimate"] > 0 else "less"
        title = f"Over the years: IW {iw} holds {comparison} of the same sites\u2019 responses than in {year}"
    return Figure(
        id="fig-years",
        title=title,
        caption=f"Mean over sites of the share of responses that fits into IW {iw}. Where a recorder did "
        "not count headers, the truth lies between bodies alone and bodies with the headers\u2019 text.",
        drawing="dots",
        x="share",
        y="sites",
        series="when",
        columns=(
            Column(id="sites", title="sites", kind="text"),
            Column(id="when", title="when", kind="text"),
            Column(id="share", title="share that fits", unit="%"),
        ),
        rows=tuple(
            {
                "sites": f"{row['since']}: {row['responses']} of {grouped(row['sites'])} sites"
                + ("" if row["sizes"] == END_LABELS["whole"] else f", {row['sizes']}"),
                "when": name,
                "share": row[value],
            }
            for row in sorted(rows, key=lambda row: str(row["since"]))
            for name, value in (("then", "before"), (f"in {now}", "now"))
        ),
        source=source,
        query=query,
        domain=(0.0, 100.0),
    )


def is_shown(row: Row) -> bool:
    return row["responses"] in SHOWN and row.get("window", SHOWN_WINDOWS[0]) in SHOWN_WINDOWS


def in_order(rows: Iterable[Row]) -> list[Row]:
    names = [*SHOWN, *RESPONSES.values()]
    return sorted(rows, key=lambda row: (not is_shown(row), names.index(row["responses"])))


def base_row(release: Release, change: Change) -> dict[str, object]:
    return {
        "since": f"{release.crawl.month}, {release.list_name}",
        "responses": RESPONSES[change.responses],
        "sizes": END_LABELS[change.end],
        "sites": change.sites,
    }


def share_rows(release: Release, stated: Sequence[Change]) -> Iterator[Row]:
    for change in stated:
        if (
            change.measure == "share"
            and change.change
            and change.before is not None
            and change.after is not None
        ):
            yield base_row(release, change) | {
                "window": f"IW {change.iw}",
                "before": 100 * change.before,
                "now": 100 * change.after,
                "change": interval(change.change.times(100)),
            }


def size_rows(release: Release, stated: Sequence[Change]) -> Iterator[Row]:
    names = {"quantile": "median response", "page_bytes": "bytes a page"}
    for change in stated:
        if change.measure in names and change.before is not None and change.after is not None:
            yield base_row(release, change) | {
                "measure": names[change.measure],
                "before": round(change.before),
                "now": round(change.after),
                "change": interval(change.change),
            }
