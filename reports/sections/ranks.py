"""Popularity: shares that fit by three weights."""

from collections.abc import Mapping, Sequence

from reports.sections.shape import Column, Figure, Section, Table

WEIGHTS = {
    "response": "each response alike",
    "page": "each page alike",
    "rank": "each page by its rank",
}


def ranks_section(
    shares: Mapping[str, Sequence[float | None]],
    *,
    windows: Sequence[int],
    is_ranked: bool,
    source: str,
    shares_query: str,
) -> Section:
    """The section; `shares` are percentages by weight and window, from the pages of `shares_query`."""
    unknown = "" if is_ranked else " The ranks of these pages are not known."
    return Section(
        id="popularity",
        title="Popular and other pages",
        lead="Large pages have more responses than small ones, and popular pages more visits. The table "
        f"shows what such weights would change; the answer rests on pages alike.{unknown}",
        figures=(shares_figure(shares, windows, source, shares_query),),
        tables=(shares_table(shares, windows, source, shares_query),),
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
