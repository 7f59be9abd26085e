"""Figure of the initial windows that servers use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.document.replay_figures import SERIES, styled


def windows_figure(servers: Mapping[str, Any], *, note: str | None = None) -> alt.TopLevelMixin:
    """Bars of the exact initial windows, as shares of the connections whose window is exact."""
    rows = [
        {"segments": one["segments"], "percent": one["exact_percent"]}
        for one in servers["windows"]
        if one["exact"]
    ]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=SERIES[0])
        .encode(
            x=alt.X("segments:O", axis=alt.Axis(title="initial window, segments", labelAngle=0)),
            y=alt.Y("percent:Q", axis=alt.Axis(title="connections, %"), scale=alt.Scale(domainMin=0)),
        )
    )
    return styled(bars, note=note)
