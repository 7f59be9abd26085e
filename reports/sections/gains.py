"""What each candidate saves: its gain over the incumbent beside the least that is worthwhile."""

from releases.formatting import grouped, stated
from reports.answer.shape import MARKS, Findings
from reports.sections.shape import Column, Figure, Line, Section, Table, interval


def gains_section(findings: Findings, *, query: str) -> Section:
    """A forest plot of savings, and its numbers."""
    (row,) = (one for one in findings.rows if one.kind == "gain")
    columns = (
        Column(id="window", title="initial window", kind="text"),
        Column(id="saved", title="page time saved", unit="%", kind="interval", near=(row.limit,)),
        Column(id="verdict", title="at least worthwhile", kind="text"),
    )
    rows = tuple(
        {"window": f"IW {cell.window}", "saved": interval(cell.printed), "verdict": MARKS[cell.mark]}
        for cell in row.cells
    )
    source = (
        f"{grouped(findings.loads)} loads of {grouped(findings.pages)} pages over "
        f"{findings.networks} networks"
    )
    return Section(
        id="gains",
        title="What other windows would save",
        lead=f"Page time that each window saves against IW {findings.incumbent}, as the geometric mean "
        "over pages of the ratio of page times.",
        figures=(
            Figure(
                id="fig-gains",
                title=f"Page time saved against IW {findings.incumbent}.",
                caption="Points with the bounds that the rule decides by, as in the verdict matrix. A "
                f"change is worthwhile where all between them lies right of {stated(row.limit, '%')}.",
                drawing="forest",
                x="saved",
                y="window",
                columns=columns,
                rows=rows,
                source=source,
                query=query,
                lines=(Line(value=0.0, label="no change"), Line(value=row.limit, label="worthwhile")),
            ),
        ),
        tables=(
            Table(
                id="gains-by-window",
                title=f"Page time saved against IW {findings.incumbent}",
                columns=columns,
                rows=rows,
                source=source,
                query=query,
            ),
        ),
    )
