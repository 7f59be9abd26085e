"""The networks and windows on which page loads are compared."""

from replay.networks.profiles import Profile

WINDOWS = (3, 10, 30)
SOURCE = "of M-Lab's size, where the network decides rather than the browser's processor"


def network(name: str, *, down_bps: int, up_bps: int, rtt_us: int, queue_bytes: int) -> Profile:
    """Return a network without random loss."""
    return Profile(
        id=name, down_bps=down_bps, up_bps=up_bps, rtt_us=rtt_us, queue_bytes=queue_bytes, source=SOURCE
    )


NETWORKS = (
    network("2.7mbps-151ms", down_bps=2_700_000, up_bps=1_000_000, rtt_us=151_000, queue_bytes=131_072),
    network("12.3mbps-100ms", down_bps=12_300_000, up_bps=4_000_000, rtt_us=100_000, queue_bytes=262_144),
    network("49mbps-60ms", down_bps=49_000_000, up_bps=16_000_000, rtt_us=60_000, queue_bytes=524_288),
)
CRAWLERS = network(
    "crawlers-access", down_bps=100_000_000, up_bps=40_000_000, rtt_us=20_000, queue_bytes=1_048_576
)
"""Access line of the crawl that gives the replay its pages; it is none of those that are compared."""
