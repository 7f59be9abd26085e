"""The networks of a replay as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.sections.shape import Column, Table


def networks_table(
    profiles: Sequence[Mapping[str, Any]], populations: Sequence[Mapping[str, Any]], *, source: str
) -> Table:
    """Rates, round trip, queue and weight of each network."""
    (average,) = (one["weights"] for one in populations if not one["slow"])
    return Table(
        id="networks",
        title="Networks of the replay",
        columns=(
            Column(id="id", title="network", kind="text"),
            Column(id="down_mbps", title="down", unit="Mbps", digits=2),
            Column(id="up_mbps", title="up", unit="Mbps", digits=2),
            Column(id="rtt_ms", title="round trip", unit="ms"),
            Column(id="queue_bytes", title="queue", unit="B", kind="count"),
            Column(id="weight_percent", title="weight", unit="%", digits=2),
        ),
        rows=tuple(
            {
                "id": one["id"],
                "down_mbps": one["down_bps"] / 1e6,
                "up_mbps": one["up_bps"] / 1e6,
                "rtt_ms": one["rtt_us"] / 1e3,
                "queue_bytes": one["queue_bytes"],
                "weight_percent": 100 * average.get(one["id"], 0.0),
            }
            for one in profiles
        ),
        source=source,
        query="jq .profiles replay.json",
        notes=tuple(f"{one['id']}: measured {one['measured']}; {one['source']}" for one in populations),
    )
