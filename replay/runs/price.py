"""The price of a load: seconds of a core, predicted from its page, its network and its background."""

from __future__ import annotations

from replay.runs.background import background
from replay.runs.cells import Cell

OBJECT_S = 0.000_12
"""Seconds of a core for an object: its request, its response, its share of connections."""

FLOW_S = 0.000_27
"""Seconds of a core for a background flow, besides its bytes."""

MEGABYTE_S = 0.002_1
"""Seconds of a core for a megabyte that crosses the bottleneck, with its acknowledgements."""

ROUND_TRIPS = 14
"""Round trips that a page takes besides the transfer of its bytes: the median of two bundled pages over seven networks."""

WARM_UP_ROUND_TRIPS, SHARING_ROUND_TRIPS, WARM_UP_S = 10, 30, 0.1
"""Time before the page, without and with competing flows (replay/lab/guest/cell.c)."""


def core_s(cell: Cell) -> float:
    """Seconds of a core for a load on the machine of docs/performance.md, without its guest's boot and calibration."""
    page_s, before_s = page_seconds(cell), warm_up_seconds(cell)
    others = background(cell.background_load, cell.profile.down_bps)
    own = OBJECT_S * len(cell.recipe.objects) + MEGABYTE_S * cell.recipe.response_bytes / 1e6
    flows = (page_s + before_s) * (FLOW_S * others.flows_per_s + MEGABYTE_S * others.bytes_per_s / 1e6)
    return own + flows + MEGABYTE_S * competing_megabytes(cell)


def page_seconds(cell: Cell) -> float:
    """Virtual time of the page: its round trips, and its bytes over what the others leave of the bottleneck."""
    flows = cell.conditions.competition.flows if cell.conditions.competition else 0
    transfer_s = 8 * cell.recipe.response_bytes / cell.profile.down_bps / (1 - cell.background_load)
    return ROUND_TRIPS * cell.profile.rtt_us / 1e6 + transfer_s * (2 if flows else 1)


def warm_up_seconds(cell: Cell) -> float:
    """Virtual time between the background's first flow and the page."""
    round_trips = SHARING_ROUND_TRIPS if cell.conditions.competition else WARM_UP_ROUND_TRIPS
    return WARM_UP_S + round_trips * cell.profile.rtt_us / 1e6


def competing_megabytes(cell: Cell) -> float:
    """What the competing flows carry: all that the bottleneck can beside the page, from the first round trips on."""
    if not cell.conditions.competition:
        return 0.0
    seconds = warm_up_seconds(cell) + page_seconds(cell)
    return max(0.0, seconds * cell.profile.down_bps / 8e6 - cell.recipe.response_bytes / 1e6)
