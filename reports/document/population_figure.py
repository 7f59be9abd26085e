"""The figure of a stored population: its networks against the percentiles of its source,
and all networks at once."""

from typing import Any

import altair as alt
import numpy as np

from figures.rendering import AXIS, LEGEND, svg
from figures.theme import FONT, LIGHT, LOCALE
from replay.networks.mlab.sample import mid_shares
from replay.networks.population_csv import CsvPopulation
from replay.networks.stored_populations import StoredPopulation

WIDTH, HEIGHT = 210, 190

PANELS = {"bandwidth_mbps": "bandwidth, Mbps", "rtt_ms": "round trip, ms"}

SOURCE, SLOW, OTHERS = "source", "slow networks", "other networks"
COLOURS = dict(zip((SOURCE, SLOW, OTHERS), list(dict.fromkeys(LIGHT.palette.values()))[:3], strict=True))

TICKS = [10**power for power in range(-2, 5)]


def population_figure(facts: StoredPopulation, population: CsvPopulation) -> str:
    networks = networks_of(population)
    drawn = (
        alt.hconcat(*(against_source(facts, networks, name) for name in PANELS), all_networks(networks))
        .properties(background=LIGHT.background, title=alt.TitleParams(facts.id, anchor="start", fontSize=13))
        .configure(font=FONT, locale=LOCALE)
        .configure_view(stroke=None)
        .configure_axis(**AXIS)
        .configure_legend(labelLimit=220, **LEGEND)
    )
    return svg(drawn)


def networks_of(population: CsvPopulation) -> list[dict[str, float | str]]:
    whole, slow = (dict(population.weights) for population in population.populations)
    weights = np.array([whole[profile.id] for profile in population.profiles])
    values = {
        "bandwidth_mbps": np.array([profile.down_bps / 1e6 for profile in population.profiles]),
        "rtt_ms": np.array([profile.rtt_us / 1e3 for profile in population.profiles]),
    }
    percents = {name: 100 * mid_shares(measured, weights) for name, measured in values.items()}
    return [
        {
            "part": SLOW if profile.id in slow else OTHERS,
            **{name: float(values[name][at]) for name in PANELS},
            **{f"{name}_percent": round(float(percents[name][at]), 2) for name in PANELS},
        }
        for at, profile in enumerate(population.profiles)
    ]


def logarithmic(name: str) -> dict[str, Any]:
    return {
        "title": PANELS[name],
        "scale": alt.Scale(type="log", nice=False),
        "axis": alt.Axis(values=TICKS, format="~g"),
    }


def against_source(
    facts: StoredPopulation, networks: list[dict[str, float | str]], name: str
) -> alt.LayerChart | alt.FacetChart:
    percentiles = zip(facts.percentiles["percents"], facts.percentiles[name]["source"], strict=True)
    source = [{"part": SOURCE, name: value, f"{name}_percent": percent} for percent, value in percentiles]
    x = alt.X(f"{name}:Q", **logarithmic(name))
    y = alt.Y(f"{name}_percent:Q", title="percentile", scale=alt.Scale(domain=[0, 100]))
    line = alt.Chart(alt.InlineData(values=source)).mark_line(order=False, strokeWidth=2)
    layers = (layer.encode(x=x, y=y, color=colour()) for layer in (line, points(networks)))
    drawn: alt.LayerChart | alt.FacetChart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return drawn


def all_networks(networks: list[dict[str, float | str]]) -> alt.Chart:
    drawn: alt.Chart = (
        points(networks)
        .encode(
            x=alt.X("bandwidth_mbps:Q", **logarithmic("bandwidth_mbps")),
            y=alt.Y("rtt_ms:Q", **logarithmic("rtt_ms")),
            color=colour(),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return drawn


def points(networks: list[dict[str, float | str]]) -> alt.Chart:
    drawn: alt.Chart = alt.Chart(alt.InlineData(values=networks)).mark_point(size=14, strokeWidth=1.2)
    return drawn


def colour() -> alt.Color:
    return alt.Color("part:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
