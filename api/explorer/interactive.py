"""The explorer's figure as Vega-Lite, by Altair, and the script that shows it in a browser, by vl-convert."""

import subprocess
import sys
from collections.abc import Mapping

import altair as alt

from api.explorer.comparison import Comparison
from api.explorer.drawing import PANEL_WIDTH, STYLES

PANEL_HEIGHT = 200
"""In CSS pixels."""

AXIS_WIDTH = 80
"""Width that a panel needs beside its plot, in CSS pixels."""

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Version of Vega-Lite that Altair writes."""

BUNDLE = f"import vl_convert; print(vl_convert.javascript_bundle(vl_version={VEGA_LITE!r}), end='')"
"""A program that prints Vega, Vega-Lite and Vega-Embed as one script."""

BUNDLED_WITHIN_S = 60


def library() -> bytes:
    """Vega, Vega-Lite and Vega-Embed as one script, from vl-convert, which has them within it.

    A process of its own makes it: the JavaScript engine takes 100 MB, which would stay with the service.
    """
    made = subprocess.run(
        [sys.executable, "-c", BUNDLE], check=True, capture_output=True, timeout=BUNDLED_WITHIN_S
    )
    return made.stdout


def vega_lite(comparison: Comparison, *, labels: Mapping[str, str], width: int) -> str:
    """The Vega-Lite of a comparison with its data, as JSON; `labels` are the titles of panels by measure.

    It is about `width` CSS pixels wide.
    """
    low, high = comparison.decades
    values = _values(comparison, labels, end=10**high)
    x = alt.X(
        "size_bytes:Q",
        title="size in bytes",
        scale=alt.Scale(type="log", domain=[10**low, 10**high], nice=False),
        axis=alt.Axis(values=[10**power for power in range(low, high + 1)], format="~s"),
    )
    lines = _lines(x, list(comparison.releases))
    rules = (
        alt.Chart()
        .transform_filter("isValid(datum.window_bytes)")
        .mark_rule(strokeDash=[3, 3], color="#9a5200")
        .encode(
            x=alt.X("window_bytes:Q"),
            tooltip=[alt.Tooltip("window:N"), alt.Tooltip("window_bytes:Q", format=",")],
        )
    )
    titles = [labels[panel.measure] for panel in comparison.panels]
    columns = min(len(titles), 2 if width > 2 * PANEL_WIDTH else 1)
    chart = (
        alt.layer(
            _bands(list(comparison.releases)),
            lines,
            rules,
            data=alt.InlineData(values=values),
        )
        .properties(width=width // columns - AXIS_WIDTH, height=PANEL_HEIGHT)
        .facet(facet=alt.Facet("measure:N", title=None, sort=titles), columns=columns)
        .properties(description="CDFs of sizes; the table below has the numbers", title=comparison.stratum)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_legend(orient="top", labelFontSize=12, labelLimit=400, columns=1, symbolSize=600)
        .configure_header(labelFontSize=13, labelFontWeight="bold")
    )
    made: str = chart.to_json(indent=None)
    return made


def _values(comparison: Comparison, labels: Mapping[str, str], *, end: int) -> list[dict[str, object]]:
    """The data of a comparison: the steps of its curves up to the size `end`,
    the intervals of their shares, and the windows."""
    rows: list[dict[str, object]] = [
        {"release": curve.release, "measure": labels[curve.measure], "size_bytes": max(size, 1), "cdf": share}
        for panel in comparison.panels
        for curve in panel.curves
        if curve.steps
        for size, share in ((curve.steps[0][0], 0.0), *curve.steps, (end, 1.0))
    ]
    bands: list[dict[str, object]] = [
        {
            "release": curve.release,
            "measure": labels[curve.measure],
            "band_bytes": max(size, 1),
            "lower": lower,
            "upper": upper,
        }
        for panel in comparison.panels
        for curve in panel.curves
        for size, lower, upper in curve.drawn_band
    ]
    windows: list[dict[str, object]] = [
        {"measure": labels[panel.measure], "window_bytes": size, "window": f"IW {iw}"}
        for panel in comparison.panels
        for iw, size in comparison.windows
    ]
    return [*rows, *bands, *windows]


def _colour(names: list[str]) -> alt.Color:
    """The colour of each release."""
    colours = [light for light, _, _ in STYLES[: len(names)]]
    return alt.Color(
        "release:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(symbolType="stroke", symbolOpacity=1),
    )


def _bands(names: list[str]) -> alt.Chart:
    """The confidence intervals of each release."""
    drawn: alt.Chart = (
        alt.Chart()
        .transform_filter("isValid(datum.band_bytes)")
        .mark_area(interpolate="step-after", opacity=0.18, tooltip=False)
        .encode(x=alt.X("band_bytes:Q"), y=alt.Y("lower:Q"), y2="upper:Q", color=_colour(names))
    )
    return drawn


def _lines(x: alt.X, names: list[str]) -> alt.Chart:
    """A step function for each release, which the reader may follow, enlarge and move."""
    styles = STYLES[: len(names)]
    dashes = [[int(part) for part in dash.split()] or [1, 0] for _, _, dash in styles]
    drawn: alt.Chart = (
        alt.Chart()
        .transform_filter("isValid(datum.size_bytes)")
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y(
                "cdf:Q",
                title="share up to this size",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
            ),
            color=_colour(names),
            strokeDash=alt.StrokeDash(
                "release:N", title=None, sort=names, scale=alt.Scale(domain=names, range=dashes)
            ),
            tooltip=[
                "release:N",
                "measure:N",
                alt.Tooltip("size_bytes:Q", format=",", title="size in bytes"),
                alt.Tooltip("cdf:Q", format=".2%", title="share"),
            ],
        )
        .add_params(alt.selection_interval(bind="scales", encodings=["x"]))
    )
    return drawn
