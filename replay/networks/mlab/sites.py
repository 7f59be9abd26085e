"""HTTP round trips of visitors, from request to header with the server's time in it, as a distance.

Chrome's report (CrUX) of December 2024, as printed at treo.sh/rtt: of each of some 49,500 domains the 75th
percentile of its users' round trips, and of these the percentiles over the domains. Less the 75th percentile
of M-Lab's world, each is a distance that is added to a network's round trip. The distance is drawn
independently of the network.

It is another quantity than the distance of a server (`replay.networks.distances`): Chrome's estimate contains
queues and the time of servers, and is of a visitor's recent browsing, to whatever server. Domains count
alike, whatever their visits.
"""

import dataclasses
from statistics import NormalDist

import numpy as np

from replay.networks.mlab.joint import Cloud, Floats

MEASURED = "2024-12"
PERCENTS = (10, 25, 50, 75, 90)
RTT_MS = (84.0, 102.0, 139.0, 196.0, 265.0)
"""Percentiles over domains of the 75th percentile over users, all devices."""


def distances_ms(world: Cloud) -> Floats:
    """Return the distance beyond M-Lab's servers of the domains at PERCENTS."""
    distances: Floats = np.array(RTT_MS) - np.quantile(world.rtt_ms, 0.75)
    return distances


def add_distances(cloud: Cloud, world: Cloud) -> Cloud:
    """Return the cloud's networks with HTTP round trips of visitors; the first and the last distance hold
    beyond their percentiles."""
    normal = NormalDist()
    scores = [normal.inv_cdf(percent / 100) for percent in PERCENTS]
    log_distances = np.interp(
        [normal.inv_cdf(share) for share in cloud.place], scores, np.log(distances_ms(world))
    )
    return dataclasses.replace(cloud, rtt_ms=cloud.rtt_ms + np.exp(log_distances))
