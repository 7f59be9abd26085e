"""The price of a load: seconds of a core, predicted from its page, its network and its background."""

import collections
import math
from collections.abc import Sequence

from replay.recipes.page_recipe import Object, Recipe
from replay.runs.background import background
from replay.runs.cells import Cell
from replay.runs.conditions import RECORDED_DISCOVERY

OBJECT_S = 0.000_03
"""For an object besides its bytes: request and response."""

CONNECTION_S = 0.001_13
"""For a connection: handshakes, and all that ends with it."""

FLOW_S = 0.000_24
"""For a background flow, besides its bytes."""

MEGABYTE_S = 0.001_86
"""For a megabyte across the bottleneck, with its acknowledgements."""

BULK_MEGABYTE_S = 0.001_12
"""For a megabyte of bulk flows, which comes in fewer and larger parts."""

SLOW_START_ROUND_TRIPS = 2
"""What slow start adds to a page's longest chain, in the median."""

WARM_UP_ROUND_TRIPS, SHARING_ROUND_TRIPS, WARM_UP_S = 10, 30, 0.1
"""Time before the page, without and with competing flows (replay/lab/guest/cell.c)."""


def core_s(cell: Cell) -> float:
    """Return a load's seconds on the machine of studies/plan_prices, without boot and calibration."""
    page_s, before_s = page_seconds(cell), warm_up_seconds(cell)
    others = background(cell.background_load, cell.profile.down_bps)
    own = (
        OBJECT_S * len(cell.recipe.requested)
        + CONNECTION_S * connections(cell.recipe)
        + MEGABYTE_S * cell.recipe.response_bytes / 1e6
    )
    flows = (page_s + before_s) * (FLOW_S * others.flows_per_s + MEGABYTE_S * others.bytes_per_s / 1e6)
    return own + flows + BULK_MEGABYTE_S * competing_megabytes(cell)


def core_seconds(cells: Sequence[Cell]) -> float:
    """Return all cells' seconds; window and seed do not change a price."""
    prices: dict[tuple[int, int, int], float] = {}
    for cell in cells:
        alike = (id(cell.recipe), id(cell.profile), id(cell.conditions))
        if alike not in prices:
            prices[alike] = core_s(cell)
    return math.fsum(prices[id(cell.recipe), id(cell.profile), id(cell.conditions)] for cell in cells)


def connections(recipe: Recipe) -> int:
    """Return a page's connections: one to an origin over HTTP/2, else one an object, up to six."""
    objects = collections.Counter(object_.origin for object_ in recipe.requested)
    return sum(1 if recipe.origins[origin].h2 else min(6, count) for origin, count in objects.items())


def page_seconds(cell: Cell) -> float:
    """Return the page's virtual time: longest chain, and bytes over what others leave of the bottleneck."""
    flows = cell.conditions.competition.flows if cell.conditions.competition else 0
    transfer_s = 8 * cell.recipe.response_bytes / cell.profile.down_bps / (1 - cell.background_load)
    return (
        longest_chain_seconds(cell)
        + SLOW_START_ROUND_TRIPS * cell.profile.rtt_us / 1e6
        + transfer_s * (2 if flows else 1)
    )


def longest_chain_seconds(cell: Cell) -> float:
    """Return the longest chain of objects: delays, a round trip each, and handshakes."""
    recipe, conditions = cell.recipe, cell.conditions
    requested = [(index, object_) for index, object_ in enumerate(recipe.objects) if not object_.is_cached]
    first = {object_.origin: index for index, object_ in reversed(requested)}
    distances_us = [origin.distance_us for origin in cell.origins]
    has_delays = conditions.discovery == RECORDED_DISCOVERY

    def before(object_: Object) -> list[int]:
        return [object_.parent, object_.waits_for] if has_delays else [object_.parent]

    def own_us(index: int, object_: Object) -> int:
        delay_us = object_.browser_delay_us if has_delays else 0
        if object_.is_cached:
            return delay_us
        origin = recipe.origins[object_.origin]
        handshakes = conditions.resolves_names + 1 + (origin.tls_trips if origin.tls_flight_bytes else 0)
        trips = 1 + (handshakes if first[object_.origin] == index else 0)
        think_us = object_.think_us if conditions.server_delay else 0
        return trips * (cell.profile.rtt_us + distances_us[object_.origin]) + delay_us + think_us

    ends = {-1: 0}
    for start in range(len(recipe.objects)):
        ahead = [start]
        while ahead:
            index = ahead[-1]
            object_ = recipe.objects[index]
            if missing := [other for other in before(object_) if other not in ends]:
                ahead += missing
                continue
            ends[ahead.pop()] = max(ends[other] for other in before(object_)) + own_us(index, object_)
    return max(ends.values()) / 1e6


def warm_up_seconds(cell: Cell) -> float:
    round_trips = SHARING_ROUND_TRIPS if cell.conditions.competition else WARM_UP_ROUND_TRIPS
    return WARM_UP_S + round_trips * cell.profile.rtt_us / 1e6


def competing_megabytes(cell: Cell) -> float:
    """Return what competing flows carry: what the bottleneck can beside the page."""
    if not cell.conditions.competition:
        return 0.0
    seconds = warm_up_seconds(cell) + page_seconds(cell)
    return max(0.0, seconds * cell.profile.down_bps / 8e6 - cell.recipe.response_bytes / 1e6)
