"""Recorded distances: the round trip from the end of a recording's access line to each server."""

import collections
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.recipes.release_rows import Row
from schema.server_delay import tcp_round_trips

MOST_US = 500_000
"""Longest distance that counts as recorded; a longer handshake had a loss or a stall. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The delay that a recording's handshakes have beside the distance of the server."""

    us: int
    """The recording's own line, and computing."""
    trips: int = 1
    """Distances that a handshake holds."""
    is_tls: bool = False


BASELINES = {"pages-2025-08": Baseline(us=169_000, trips=2, is_tls=True), "wpt-2019-12": Baseline(us=28_000)}
"""Baselines by the id of the site list or the recording.

August 2025: 164 ms of the VPN and 5 ms of computing; the VPN's exit answered TCP handshakes itself and
connected to the server meanwhile, so that a TLS handshake holds the distance twice. December 2019: the shaped
line.
"""


def own_baseline(connections: Sequence[Row]) -> Baseline | None:
    """Return a crawl's baseline: the fifth percentile of its TCP round trips."""
    trips = [trip for trip in tcp_round_trips(connections).values() if trip > 0]
    return Baseline(us=round(statistics.quantiles(trips, n=20)[0])) if len(trips) > 1 else None


def recorded_distances(connections: Sequence[Row], baseline: Baseline | None) -> dict[str, int]:
    """Return the distance of each host in µs, by its shortest handshake.

    >>> connection = {"host": "a", "protocol": "h2", "tls_version": "TLS 1.3"}
    >>> connection |= {"opened_us": 0, "connected_us": 164_000, "secured_us": 373_000}
    >>> recorded_distances([connection], BASELINES["pages-2025-08"]), recorded_distances([connection], None)
    ({'a': 20000}, {})
    """
    by_host: Mapping[str, list[int]] = collections.defaultdict(list)
    if baseline is None:
        return {}
    for connection in connections:
        if (handshake := _handshake_us(connection, is_tls=baseline.is_tls)) is not None:
            by_host[connection["host"]].append(max(0, handshake - baseline.us) // baseline.trips)
    return {host: shortest for host, distances in by_host.items() if (shortest := min(distances)) <= MOST_US}


def _handshake_us(connection: Row, *, is_tls: bool) -> int | None:
    """Return a TLS 1.3 or TCP handshake; None if it was not recorded, or is QUIC's."""
    began, ended = ("connected_us", "secured_us") if is_tls else ("opened_us", "connected_us")
    if connection["protocol"] == "h3" or (is_tls and connection["tls_version"] != "TLS 1.3"):
        return None
    if connection[began] is None or connection[ended] is None:
        return None
    return int(connection[ended] - connection[began]) or None
