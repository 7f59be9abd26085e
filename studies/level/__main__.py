"""Replay single responses over slow lines under each reading of the published queues, and write level.csv.

It checks the queues of slow lines, of which nothing newer is published, and decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from replay.networks.mlab.draws import DrawnNetwork, draw_networks
from replay.networks.queues import QUEUES, rate_class
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell, make_cells
from replay.runs.conditions import PLAIN
from replay.runs.policy import at_once
from replay.runs.run import replay
from studies.csv_table import write_table
from verdict.rate_classes import PUBLISHED_MBPS, PUBLISHED_PACKETS_PERCENT, PUBLISHED_RESPONSES_PERCENT

DRAWS, SEEDS, SEED = 12, 4, 1
READINGS = ("default", "low", "high", "at-least-2", "at-least-50")
HEAD = ("queues", "networks", "loads", "mean_mbps", "packets_percent", "error", "responses_percent", "error")

RESPONSE_BYTES = 7_500
"""Mean size of the published responses."""

WINDOW = 10

RECIPE = Recipe(
    page="single-response",
    visit_id=1,
    origins=(Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0, distance_us=0),),
    objects=(Object(response_id=1, origin=0, parent=-1, response_bytes=RESPONSE_BYTES, is_document=True),),
    left_out=0,
)
"""A page of one response on a connection of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What slow lines send again, with the standard errors over the draws of the networks."""

    networks: int
    loads: int
    mean_mbps: float
    packets_percent: float
    packets_error: float
    responses_percent: float
    responses_error: float


def level_cells(networks: Sequence[DrawnNetwork], *, seeds: int) -> list[Cell]:
    """Return the loads of the response over the networks below 6 Mbps, at today's window, by one sender."""
    slow = [network.profile for network in networks if is_slow_class(network)]
    return make_cells([RECIPE], slow, policies=at_once(WINDOW), seeds=seeds, conditions=(PLAIN,))


def is_slow_class(network: DrawnNetwork) -> bool:
    return rate_class(network.profile.down_bps) == "<6"


def level_of(rows: Sequence[Mapping[str, Any]], networks: Sequence[DrawnNetwork]) -> Level:
    """Return the level of loads that are done, by the weights of their networks; at least two draws are
    needed."""
    by_id = {network.profile.id: network for network in networks if is_slow_class(network)}
    done = [row for row in rows if row["state"] == "done"]
    draws = sorted({by_id[row["profile"]].draw for row in done})

    def shares(part: str, whole: str) -> list[float]:
        sums = dict.fromkeys(draws, (0.0, 0.0))
        for row in done:
            network = by_id[row["profile"]]
            again, sent = sums[network.draw]
            sums[network.draw] = again + network.weight * row[part], sent + network.weight * row[whole]
        return [100 * again / sent for again, sent in sums.values()]

    packets = shares("segments_retransmitted", "segments_sent")
    responses = shares("responses_retransmitted", "responses")
    weights = [network.weight for network in by_id.values()]
    return Level(
        networks=len({row["profile"] for row in done}),
        loads=len(done),
        mean_mbps=float(
            np.average([network.profile.down_bps / 1e6 for network in by_id.values()], weights=weights)
        ),
        packets_percent=fmean(packets),
        packets_error=standard_error(packets),
        responses_percent=fmean(responses),
        responses_error=standard_error(responses),
    )


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def main() -> None:
    lab = find_lab(from_environment().cache_dir)
    rows: list[tuple[object, ...]] = [
        (
            "published, May 2011",
            "",
            "",
            PUBLISHED_MBPS,
            PUBLISHED_PACKETS_PERCENT,
            "",
            PUBLISHED_RESPONSES_PERCENT,
            "",
        )
    ]
    for name in READINGS:
        networks = draw_networks(range(DRAWS), seed=SEED, queues=QUEUES[name])
        level = level_of(replay(lab, level_cells(networks, seeds=SEEDS), guests=2).rows, networks)
        rows.append(
            (
                name,
                level.networks,
                level.loads,
                *(
                    f"{value:.2f}"
                    for value in (
                        level.mean_mbps,
                        level.packets_percent,
                        level.packets_error,
                        level.responses_percent,
                        level.responses_error,
                    )
                ),
            )
        )
        print(rows[-1])
    write_table(Path(__file__).with_name("level.csv"), HEAD, rows)


if __name__ == "__main__":
    main()
