"""Made-up loads whose truth is known: page times, payload and what of it is sent again, by policy."""

from collections.abc import Mapping

import numpy as np

from replay.runs.policy import Policy
from verdict.evidence import COLUMNS, Evidence, Network
from verdict.student import Floats, Integers

TEN, PACED, FAR = Policy(10), Policy(16, "paced"), Policy(16, "paced", 100)


def evidence_of(
    loads: Mapping[Policy, tuple[Floats, Floats]],
    *,
    payload: Floats | float = 1e6,
    handshake_ms: Floats | float = 50.0,
    pages: Integers | None = None,
    places: Integers | None = None,
    sites: Integers | None = None,
    short_flow_ms: Mapping[Policy, Floats] | None = None,
    strata: int = 1,
) -> Evidence:
    """Draws with page times in milliseconds and bytes sent again by policy; each over a network of its own,
    or over those of `places`."""
    policies = tuple(sorted(loads))
    size = len(loads[policies[0]][0])
    at = np.arange(size) if places is None else places.astype(np.intp)
    values = {name: np.full((size, len(policies)), np.nan) for name in COLUMNS}
    values["page_ms"] = np.column_stack([loads[policy][0] for policy in policies])
    values["document_ms"] = values["page_ms"] / 2
    values["first_byte_ms"] = np.full_like(values["page_ms"], 100.0)
    values["bytes_retransmitted"] = np.column_stack([loads[policy][1] for policy in policies])
    values["payload_bytes"] = np.broadcast_to(
        np.reshape(np.broadcast_to(payload, size), (size, 1)), values["page_ms"].shape
    )
    values["handshake_max_ms"] = np.broadcast_to(
        np.reshape(np.broadcast_to(handshake_ms, size), (size, 1)), values["page_ms"].shape
    )
    if short_flow_ms is not None:
        values["short_flow_ms"] = np.column_stack([short_flow_ms[policy] for policy in policies])
    return Evidence(
        networks=tuple(
            Network(
                id=f"n{number:05}",
                stratum=number % strata,
                share=1 / strata,
                slow_share=float(number % strata == 0),
            )
            for number in range(int(at.max()) + 1)
        ),
        visits=(np.arange(size) if pages is None else pages).astype(np.intp),
        places=at.astype(np.intp),
        windows=policies,
        values=values,
        again={name: array[:, policies.index(TEN)].copy() for name, array in values.items()},
        states={"done": size * len(policies)},
        sites=None if sites is None else sites.astype(np.intp),
    )


def noisy(
    rng: np.random.Generator, size: int, effects: Mapping[Policy, tuple[float, float]], *, noise: float = 0.02
) -> Evidence:
    """Loads of `size` draws of 100 pages over networks of 8 strata, four to each: per cent saved and
    percentage points sent again by policy, for loads whose handshake is beyond the policy's threshold."""
    handshake_ms = np.where(np.arange(size) % 3 == 0, 150.0, 50.0)
    page_ms = np.exp(rng.normal(8, 0.5, size))
    loads = {TEN: (page_ms, np.full(size, 2e4))}
    for policy, (gain, resent) in effects.items():
        is_touched = handshake_ms > (policy.beyond_ms or 0)
        change = np.log1p(-gain / 100) + noise * rng.standard_normal(size)
        share = resent / 100 + 0.1 * noise * rng.standard_normal(size)
        loads[policy] = (
            np.where(is_touched, page_ms * np.exp(change), page_ms),
            2e4 + np.where(is_touched, 1e6 * share, 0.0),
        )
    return evidence_of(
        loads,
        handshake_ms=handshake_ms,
        pages=rng.integers(100, size=size),
        places=np.arange(size) // 4,
        strata=8,
    )
