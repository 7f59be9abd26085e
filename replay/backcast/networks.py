"""Networks of 2010 for the back-cast: 64 of each data centre,
of Figure 3's marginals with the copula of `copula`."""

import functools
from statistics import NormalDist

import numpy as np

from replay.backcast.published import DATA_CENTERS, DataCenter
from replay.networks.copula import RHOS, SOURCE, quantile
from replay.networks.mlab.joint import MOST_SCORE, NETWORKS, Cloud, low_discrepancy
from replay.networks.mlab.sample import NetworkSample, draw_sample
from replay.networks.profiles import FRAME_BYTES, Population, Profile

SLOWEST_MBPS, LONGEST_RTT_MS = 0.016, 2_900.0
"""Fig 3 begins at 1 kbps, over which no search would end. The servers of 2010 waited three seconds before
they sent a SYN-ACK again (RFC 1122 §4.2.3.1); Linux waits one now, knows by timestamps that it need not have,
and keeps the window."""

LEAST_UP_BPS = 64_000

SHALLOW_QUEUE_BYTES = 16_000
"""Queue of the networks with a shallow one: some ten packets, as in access equipment of the time. Ours."""


@functools.cache
def strata(center: DataCenter) -> NetworkSample:
    normal = NormalDist()
    points = low_discrepancy(NETWORKS, 3)
    scores = np.array([normal.inv_cdf(share) for share in points[:, :2].ravel()]).reshape(-1, 2)
    rho = RHOS[center]
    bandwidth = scores[:, 0].clip(-MOST_SCORE, MOST_SCORE)
    rtt = (rho * scores[:, 0] + np.sqrt(1 - rho**2) * scores[:, 1]).clip(-MOST_SCORE, MOST_SCORE)
    return draw_sample(
        Cloud(
            bandwidth_mbps=np.array(
                [
                    max(SLOWEST_MBPS, quantile("bw_kbps", center, normal.cdf(score)) / 1e3)
                    for score in bandwidth
                ]
            ),
            rtt_ms=np.array([max(1.0, quantile("rtt_ms", center, normal.cdf(score))) for score in rtt]),
            loss=np.zeros(NETWORKS),
            place=points[:, 2],
        )
    )


def networks(
    center: DataCenter,
    *,
    rate_factor: float = 1,
    queue_bytes: int = 1,
    shallow_share: float = 0,
    loss: float = 0,
    burst: float = 1,
) -> list[Profile]:
    """Return the networks of a data centre, with rates times a factor and one share of random loss.

    A share of the networks has a shallow queue, whatever their rate and round trip;
    the others have one of `queue_bytes`.
    """
    sample = strata(center)
    profiles = []
    for at, mbps in enumerate(sample.bandwidth_mbps):
        down_bps = round(1e6 * rate_factor * float(mbps))
        packet_ms = 8e3 * FRAME_BYTES / down_bps
        rtt_ms = max(min(float(sample.rtt_ms[at]), LONGEST_RTT_MS), packet_ms)
        profiles.append(
            Profile(
                id=f"{center.lower()}-{at + 1}",
                down_bps=down_bps,
                up_bps=max(down_bps // 4, LEAST_UP_BPS),
                rtt_us=round(1000 * rtt_ms),
                queue_bytes=SHALLOW_QUEUE_BYTES if sample.queue_shares[at] < shallow_share else queue_bytes,
                source=f"{SOURCE}, Fig 3, {center}",
                loss=loss,
                loss_burst=burst,
            )
        )
    return profiles


def populations() -> tuple[Population, ...]:
    return tuple(
        Population(
            id=f"{center.lower()}-2010-backcast",
            weights=tuple(
                (f"{center.lower()}-{at + 1}", float(weight))
                for at, weight in enumerate(strata(center).weights)
            ),
            slow=center == "SlowDC",
            measured="2010",
            source=f"{SOURCE}, Fig 3, {center}, copula with rho {RHOS[center]:g}",
        )
        for center in DATA_CENTERS
    )
