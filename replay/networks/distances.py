"""Published distances of servers beyond the end of an access line (published/distances_ms.csv).

A distance is the round trip to a server less the line's own. It is drawn by the share of servers that are
replicas of content delivery networks, seen from the network's country where it is known, and of all others.
"""

import csv
import functools

import numpy as np

from replay.networks.queues import PUBLISHED

PERCENTS = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99)
"""Percentiles of the table, and the nearest server, whose distance is 0; none is further than the last."""

REPLICA_SHARE = 0.6
"""Share of page objects that replicas serve: 56 % of requests in 2019, and growing. Ours."""

REPLICAS, OTHERS = "replicas", ("others-us-east-2019", "others-argentina-2025")

DISTANCE = (NO_DISTANCE, RECORDED_DISTANCE, NEAR, FAR) = ("none", "recorded", "near", "far")
"""Values of the column `distance`: no server is further than the network's round trip; as recorded, and drawn
where nothing was; all drawn, replicas alone; all drawn, as all servers lie from Argentina."""


@functools.cache
def read_distances() -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the distances in ms at PERCENTS by kind of servers and country; empty is the world's."""
    with (PUBLISHED / "distances_ms.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["servers"], row["country"]): (
                0.0,
                *(float(row[f"p{percent:02}_ms"]) for percent in PERCENTS[1:]),
            )
            for row in csv.DictReader(file)
        }


def draw_distance_us(which: str, *, country: str | None, kind: float, other: float, place: float) -> int:
    """Return the distance of a server in µs by three numbers from 0 to below 1.

    `kind` decides whether it is a replica, `other` which set another server is of, and `place` is its
    cumulative share, from the nearest.

    >>> draw_distance_us("near", country=None, kind=0.9, other=0, place=0.9)
    59600
    >>> draw_distance_us("recorded", country="NG", kind=0.5, other=0, place=0.5)
    59600
    """
    if which == FAR:
        servers = OTHERS[1], ""
    elif which == NEAR or kind < REPLICA_SHARE:
        servers = REPLICAS, country or ""
    else:
        servers = OTHERS[int(other * len(OTHERS))], ""
    table = read_distances()
    values = table.get(servers) or table[servers[0], ""]
    return round(1e3 * float(np.interp(100 * place, PERCENTS, values)))
