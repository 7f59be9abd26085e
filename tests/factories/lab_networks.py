"""A network of the lab on which round trips can be counted, for tests."""

from dataclasses import replace
from typing import Any

from replay.networks.profiles import Profile
from replay.runs.conditions import PLAIN, Conditions

RTT_MS = 100
FAST = Profile(
    id="fast",
    version=1,
    down_bps=200_000_000,
    up_bps=200_000_000,
    rtt_us=RTT_MS * 1000,
    queue_bytes=4_000_000,
    source="tests",
)
"""Neither its rate nor its queue matters to a response of a few windows: round trips alone do."""


def plain(**changes: Any) -> Conditions:
    """Conditions with one sender and all servers at the end of the line, so that physics can be computed."""
    return replace(PLAIN, **changes)
