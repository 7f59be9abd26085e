"""Transfer times of main documents: slow start by arithmetic compared with the kernel's times."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from releases.catalogue import Release
from releases.slow_start import arrivals_ms
from replay.runs.conditions import Conditions
from reports.statistics.paired_loads import cells_under

DOCUMENTS = """
SELECT visit.id, response.wire_bytes
FROM read_parquet(?, hive_partitioning = false) AS visit
JOIN read_parquet(?, hive_partitioning = false) AS response
  ON response.visit_id = visit.id AND response.id = visit.main_response_id
WHERE response.wire_bytes IS NOT NULL
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTime:
    """Mean time from the document's first byte to its last, by arithmetic and by the kernel."""

    profile: str
    iw: int
    pages: int
    loads: int
    arithmetic_ms: float
    kernel_ms: float


def document_ms(size_bytes: int, *, iw: int, rtt_us: int, down_bps: int) -> float:
    """Time from the first segment to the last over an idle network without loss, in milliseconds.

    >>> round(document_ms(14_480, iw=10, rtt_us=100_000, down_bps=1_000_000), 3)
    109.008
    >>> round(document_ms(14_481, iw=10, rtt_us=100_000, down_bps=1_000_000), 3)
    109.544
    """
    arrived = arrivals_ms(size_bytes, iw=iw, rtt_us=rtt_us, down_bps=down_bps)
    return arrived[-1] - arrived[0] if arrived else 0.0


def document_times(
    release: Release, cells: pa.Table, profiles: Sequence[Mapping[str, Any]], *, congestion_control: str
) -> list[DocumentTime]:
    """Compare each profile at each window, over the finished cells whose document's size is known."""
    with duckdb.connect(":memory:") as database:
        found = database.execute(DOCUMENTS, [str(release.file("visit")), str(release.file("response"))])
        sizes: dict[int, int] = dict(found.fetchall())
    networks = {profile["id"]: profile for profile in profiles}
    loads: dict[tuple[str, int], list[tuple[int, float, float]]] = collections.defaultdict(list)
    for row in cells_under(cells, Conditions(congestion_control=congestion_control)):
        network, size = networks.get(row["profile"]), sizes.get(row["visit_id"])
        if network is None or size is None:
            continue
        if row["state"] != "done" or row["document_ms"] is None or row["first_byte_ms"] is None:
            continue
        expected = document_ms(size, iw=row["iw"], rtt_us=network["rtt_us"], down_bps=network["down_bps"])
        measured = row["document_ms"] - row["first_byte_ms"]
        loads[row["profile"], row["iw"]].append((row["visit_id"], expected, measured))
    return [
        DocumentTime(
            profile=profile,
            iw=iw,
            pages=len({visit for visit, _, _ in rows}),
            loads=len(rows),
            arithmetic_ms=sum(expected for _, expected, _ in rows) / len(rows),
            kernel_ms=sum(measured for _, _, measured in rows) / len(rows),
        )
        for (profile, iw), rows in sorted(loads.items())
    ]
