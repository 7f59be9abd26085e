"""Popularity: shares that fit by three weights, and gains by strata of ranks."""

from collections.abc import Mapping, Sequence

from reports.recommendation.strata import StratumGain
from reports.sections.shape import Column, Figure, Section, Table, interval

WEIGHTS = {
    "response": "each response alike",
    "page": "each page alike",
    "rank": "each page by its rank",
}


def ranks_section(
    shares: Mapping[str, Sequence[float | None]],
    gains: Sequence[StratumGain],
    *,
    windows: Sequence[int],
    incumbent: int,
    is_ranked: bool,
    source: str,
    shares_query: str,
    query: str,
) -> Section:
    """The section; `shares` are percentages by weight and window, from the pages of `shares_query`."""
    unknown = "" if is_ranked else " The ranks of these pages are not known."
    return Section(
        id="popularity",
        title="Popular and other pages",
        lead="Large pages have more responses than small ones, and popular pages more visits. The tables "
        f"show what such weights would change; the answer rests on pages alike.{unknown}",
        figures=(shares_figure(shares, windows, source, shares_query),),
        tables=(
            shares_table(shares, windows, source, shares_query),
            *((gains_table(gains, incumbent, query),) if gains else ()),
        ),
    )


def shares_figure(
    shares: Mapping[str, Sequence[float | None]], windows: Sequence[int], source: str, query: str
) -> Figure:
    """Shares of responses that fit into each window, a series for each weight."""
    return Figure(
        id="fig-weights",
        title="Share of responses that fit, by weight.",
        caption="What weights of pages by their number or rank would change.",
        drawing="intervals",
        x="window",
        y="share",
        series="weight",
        columns=(
            Column(id="window", title="initial window", kind="text"),
            Column(id="weight", title="weight", kind="text"),
            Column(id="share", title="share that fits", unit="%"),
        ),
        rows=tuple(
            {"window": f"IW {window}", "weight": WEIGHTS[name], "share": some[place]}
            for place, window in enumerate(windows)
            for name, some in shares.items()
        ),
        source=source,
        query=query,
    )


def shares_table(
    shares: Mapping[str, Sequence[float | None]], windows: Sequence[int], source: str, query: str
) -> Table:
    """Shares of responses that fit into a window."""
    return Table(
        id="shares-by-weight",
        title="Share of responses that fit, by weight",
        columns=(
            Column(id="weight", title="weight", kind="text"),
            *(Column(id=f"iw{iw}", title=f"IW {iw}", unit="%") for iw in windows),
        ),
        rows=tuple(
            {
                "weight": WEIGHTS[name],
                **{f"iw{iw}": share for iw, share in zip(windows, some, strict=True)},
            }
            for name, some in shares.items()
        ),
        source=source,
        query=query,
        notes=(
            "By rank: visits in proportion to 1 over the rank (Zipf's law; Adamic and Huberman 2002), and "
            "for ranks by magnitude the mean over the magnitude.",
        ),
    )


def gains_table(gains: Sequence[StratumGain], incumbent: int, query: str) -> Table:
    """Page time saved by stratum."""
    windows = sorted({one.iw for one in gains})
    by_stratum: dict[str, list[StratumGain]] = {}
    for one in gains:
        by_stratum.setdefault(one.stratum, []).append(one)
    return Table(
        id="gains-by-rank",
        title=f"Page time saved against IW {incumbent}, by rank",
        columns=(
            Column(id="stratum", title="pages", kind="text"),
            Column(id="pages", title="number", kind="count"),
            *(Column(id=f"iw{iw}", title=f"IW {iw}", unit="%", kind="interval") for iw in windows),
        ),
        rows=tuple(
            {
                "stratum": stratum,
                "pages": some[0].pages,
                **{f"iw{one.iw}": interval(one.saved_percent) for one in some},
            }
            for stratum, some in by_stratum.items()
        ),
        source="the replay's cells",
        query=query,
        notes=("Intervals hold together for the windows of a line, and not for several lines.",),
    )
