"""Made-up cells with a realistic structure, whose effects are arguments."""

import random
from collections.abc import Mapping

import pyarrow as pa

from replay.runs.conditions import Conditions
from schema.computed_tables import CELL

POPULATIONS: Mapping[str, Mapping[str, float]] = {
    "average": {"cable": 0.7, "slow": 0.3},
    "slow": {"slow": 1.0},
}


def cells(
    *,
    gain_percent: Mapping[int, float],
    slow_gain_percent: Mapping[int, float] | None = None,
    retransmitted_percent: Mapping[int, float] | None = None,
    pages: int = 30,
    seeds: int = 4,
    noise_percent: float = 0.05,
    spread_percent: float = 0.2,
    profiles: tuple[str, ...] = ("cable", "slow"),
    refused: frozenset[tuple[str, int, int]] = frozenset(),
    draw: int = 2026,
) -> pa.Table:
    """Cells in which IW w saves about `gain_percent[w]` of a page's time at IW 10.

    `spread_percent` is how much pages differ in their gain, `noise_percent` how much seeds do.
    `refused` names (page, iw, seed)s.
    """
    rng = random.Random(draw)
    rows = []
    for page in range(pages):
        base_ms = 400 + 150 * page
        for iw, gain in gain_percent.items():
            own = rng.gauss(0, spread_percent) if iw != 10 else 0.0
            for profile in profiles:
                slow = profile.startswith("slow")
                effect = gain if not slow or slow_gain_percent is None else slow_gain_percent[iw]
                for seed in range(1, seeds + 1):
                    time_ms = base_ms * (6 if slow else 1) * (1 - (effect + own) / 100)
                    time_ms *= 1 + rng.gauss(0, noise_percent) / 100
                    lost = (retransmitted_percent or {}).get(iw, 0.1)
                    state = "refused" if (f"page{page:02}.test", iw, seed) in refused else "done"
                    rows.append(cell(page, profile, iw, seed, time_ms, lost, state))
    return pa.Table.from_pylist(rows, schema=CELL)


def cell(
    page: int, profile: str, iw: int, seed: int, page_ms: float, retransmitted_percent: float, state: str
) -> dict[str, object]:
    """A row of the cells; a refused cell has no results."""
    key: dict[str, object] = {
        "page": f"page{page:02}.test",
        "visit_id": page + 1,
        "profile": profile,
        "iw": iw,
        **Conditions(congestion_control="cubic").columns(),
        "seed": seed,
        "state": state,
        "reason": None if state == "done" else "rtt: 71.2 ms instead of 70 ms",
    }
    if state != "done":
        return key
    payload = 400_000 + 10_000 * page
    lost = round(payload * retransmitted_percent / 100)
    return {
        **key,
        "page_ms": page_ms,
        "document_ms": page_ms / 3,
        "first_byte_ms": page_ms / 5,
        "render_blocking_ms": page_ms / 2,
        "response_latency_ms": page_ms / 10,
        "payload_bytes": payload,
        "responses": 1000,
        "responses_own_retransmitted": round(1000 * retransmitted_percent / 100),
        "connections": 1000,
        "connections_initial_loss": round(1000 * retransmitted_percent / 100),
        "segments_sent": payload // 1448,
        "segments_retransmitted": lost // 1448,
        "bytes_retransmitted": lost,
        "bottleneck_drops": 1 if lost else 0,
        "snd_cwnd_min": iw,
    }
