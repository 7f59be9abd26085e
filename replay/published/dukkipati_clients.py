"""Clients of the 2010 paper's data centres, drawn from its curves, and web search to them by arithmetic."""

import functools
import random
from dataclasses import dataclass
from statistics import NormalDist

from releases.slow_start import MSS_FIG1, arrivals_ms, segments
from replay.networks.copula import RHOS, SOURCE, Curve, interpolate, quantile, read_curve
from replay.networks.profiles import QUEUE_BYTES, Profile
from replay.published.reproduction import ORACLES
from replay.runs.policy import Policy
from replay.runs.races import Race, download

SEARCH = "dukkipati_2010_search_sizes.csv", "google_web_search"

DATA_CENTER = "AvgDC"

SEED = 2010
SLOWEST_KBPS = 16.0
"""Least bandwidth of a client. Fig 3 begins at 1 kbps, over which no search would end."""

REQUEST_BYTES = 400
SYN_FRAME_BYTES = 74
"""Frame of a SYN-ACK: Ethernet 14, IPv4 20, TCP with options 40 bytes."""

UPLINK_BPS = 10_000_000
"""Fast enough that requests and acknowledgements take no time."""


@dataclass(frozen=True, slots=True)
class PublishedClient:
    """A client: its network and the size of its search response."""

    kbps: float
    rtt_ms: float
    size_bytes: int

    @property
    def down_bps(self) -> int:
        return round(self.kbps * 1000)

    @property
    def rtt_us(self) -> int:
        return round(self.rtt_ms * 1000)

    @property
    def bdp_bytes(self) -> float:
        return self.kbps * self.rtt_ms / 8

    @property
    def segments(self) -> int:
        """Segments of the response as Fig 7 counts them."""
        return segments(self.size_bytes, mss=MSS_FIG1)

    def search_ms(self, iw: int) -> float:
        """Return the response's time on an idle network, from the earliest first byte."""
        return arrivals_ms(self.size_bytes, iw=iw, rtt_us=self.rtt_us, down_bps=self.down_bps)[-1]

    def latency_ms(self, iw: int) -> float:
        """Return the response's time from its request, without the server's own."""
        return self.rtt_ms + self.search_ms(iw)

    def from_syn_ms(self, iw: int) -> float:
        """Return the search's time from the first SYN: two round trips and the SYN-ACK more."""
        return 2 * self.rtt_ms + SYN_FRAME_BYTES * 8e3 / self.down_bps + self.search_ms(iw)

    def network(self, name: str, up_bps: int) -> Profile:
        return Profile(
            id=name,
            down_bps=self.down_bps,
            up_bps=up_bps,
            rtt_us=self.rtt_us,
            queue_bytes=QUEUE_BYTES,
            source=SOURCE,
        )

    def search(self, number: int, iw: int) -> Race:
        where = self.network(f"client-{number}", max(self.down_bps, UPLINK_BPS))
        return download(where, policy=Policy(iw), request_bytes=REQUEST_BYTES, response_bytes=self.size_bytes)


def draw(count: int, *, data_center: str = DATA_CENTER) -> list[PublishedClient]:
    """Draw clients, the same every time."""
    generator = random.Random(SEED)  # noqa: S311  # a sample, not a secret
    normal = NormalDist()
    shares, sizes = size_curve(*SEARCH)
    rho = RHOS[data_center]
    clients = []
    for _ in range(count):
        first, second = generator.gauss(0, 1), generator.gauss(0, 1)
        other = rho * first + (1 - rho**2) ** 0.5 * second
        clients.append(
            PublishedClient(
                kbps=max(SLOWEST_KBPS, quantile("bw_kbps", data_center, normal.cdf(first))),
                rtt_ms=max(1.0, quantile("rtt_ms", data_center, normal.cdf(other))),
                size_bytes=max(1, round(interpolate(shares, sizes, generator.random()))),
            )
        )
    return clients


@functools.cache
def size_curve(file: str, curve: str) -> Curve:
    """Return cumulative shares and bytes of a curve in Figure 1."""
    return read_curve(ORACLES / file, "bytes", curve=curve)
