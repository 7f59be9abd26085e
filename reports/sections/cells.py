"""The extent of a whole replay, and the cells that it left out."""

from releases.formatting import grouped, quantity
from reports.sections.shape import Column, Section, Table
from reports.statistics.paired_loads import PairedLoads


def cells_section(loads: PairedLoads, *, query: str) -> Section:
    """How much of the replay is done, and what is missing."""
    source = "the replay's cells"
    done = (
        f"{quantity(loads.coverage_percent, '%')} of these cells are done. The others failed, or were "
        "refused because their network failed a calibration check; no mean includes them."
        if loads.missing
        else "All these cells are done."
    )
    return Section(
        id="replay",
        title="The replay",
        lead=f"{grouped(len(loads.pages))} pages were loaded again over the Linux TCP stack, at "
        f"{len(loads.windows)} windows on {len(loads.profiles)} networks with "
        f"{loads.seeds} seeds each. {done}",
        tables=(
            Table(
                id="missing",
                title="Cells left out",
                columns=(
                    Column(id="profile", title="network", kind="text"),
                    Column(id="iw", title="IW", kind="count"),
                    Column(id="state", title="state", kind="text"),
                    Column(id="cells", title="cells", kind="count"),
                    Column(id="reason", title="reason", kind="text"),
                ),
                rows=tuple(
                    {name: getattr(one, name) for name in ("profile", "iw", "state", "cells", "reason")}
                    for one in loads.missing
                ),
                source=source,
                query=query,
            ),
        )
        if loads.missing
        else (),
    )
