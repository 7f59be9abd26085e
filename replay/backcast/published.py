"""Tables 3 and 7 of the 2010 paper: what calibrates the back-cast's inputs (IW 3),
and what judges it (IW 10 over 3)."""

from dataclasses import dataclass
from typing import Literal

Service = Literal["search", "maps", "photos"]
SERVICE_LABELS: dict[Service, str] = {"search": "search", "maps": "Maps", "photos": "Photos"}
SERVICES = tuple(SERVICE_LABELS)
DataCenter = Literal["AvgDC", "SlowDC"]
DATA_CENTERS: tuple[DataCenter, ...] = ("AvgDC", "SlowDC")
BASE, EXPERIMENT = 3, 10
"""The two windows of the paper's experiment."""
CANDIDATES = (3, 6, 10, 16, 26)
"""Windows of the paper's Figure 2 that a back-cast loads."""

QUANTILES = (0.1, 0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of web search in a data centre at one window, in milliseconds (Table 3)."""

    mean: float
    quantiles: tuple[float, ...]
    """At QUANTILES."""


LATENCY: dict[tuple[DataCenter, int], Latency] = {
    ("AvgDC", 3): Latency(582, (193, 388, 777, 1207, 3696)),
    ("AvgDC", 10): Latency(514, (174, 363, 703, 1001, 2937)),
    ("SlowDC", 3): Latency(823, (211, 474, 1194, 1954, 5986)),
    ("SlowDC", 10): Latency(751, (204, 458, 1067, 1689, 5076)),
}

RETRANSMITTED: dict[tuple[DataCenter, Service | Literal["all"]], dict[int, float]] = {
    ("AvgDC", "all"): {3: 1.98, 10: 2.29},
    ("AvgDC", "search"): {3: 1.55, 10: 1.73},
    ("AvgDC", "maps"): {3: 3.27, 10: 4.17},
    ("AvgDC", "photos"): {3: 2.25, 10: 2.64},
    ("SlowDC", "all"): {3: 3.54, 10: 4.21},
    ("SlowDC", "search"): {3: 2.98, 10: 3.50},
    ("SlowDC", "maps"): {3: 3.94, 10: 5.79},
    ("SlowDC", "photos"): {3: 4.97, 10: 6.10},
}
"""Segments sent again in percent, by window (Table 7)."""

RESPONSES: dict[tuple[DataCenter, Service], dict[int, float]] = {
    ("AvgDC", "search"): {3: 5.82, 10: 5.63},
    ("AvgDC", "maps"): {3: 7.18, 10: 7.78},
    ("AvgDC", "photos"): {3: 10.38, 10: 11.14},
    ("SlowDC", "search"): {3: 10.17, 10: 10.44},
    ("SlowDC", "maps"): {3: 7.36, 10: 9.32},
    ("SlowDC", "photos"): {3: 19.99, 10: 22.29},
}
"""Responses of which any segment was sent again in percent, by window (Table 7)."""


def mix() -> dict[Service, float]:
    """Return the services' shares of all segments, which make Table 7's "all" at IW 3 in both data centres.

    >>> {name: round(share, 2) for name, share in mix().items()}
    {'search': 0.63, 'maps': 0.17, 'photos': 0.2}
    """
    search, maps, photos, whole = (
        [RETRANSMITTED[center, name][BASE] for center in DATA_CENTERS]
        for name in ("search", "maps", "photos", "all")
    )
    # maps * (m - s) + photos * (p - s) = all - s, once for each data centre.
    (a, b, c), (d, e, f) = (
        (maps[at] - search[at], photos[at] - search[at], whole[at] - search[at]) for at in (0, 1)
    )
    of_photos = (a * f - d * c) / (a * e - d * b)
    of_maps = (c - b * of_photos) / a
    return {"search": 1 - of_maps - of_photos, "maps": of_maps, "photos": of_photos}
