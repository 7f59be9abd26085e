"""Page times by arithmetic, without loss or competing traffic: a control variate for the times that the replay measures.

Its own error does not matter: the mean over all pages and networks is known exactly, and only what the replay adds to it is
estimated. It counts handshakes, the rounds of slow start on each connection, and the bytes at the rate of the bottleneck.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from releases.slow_start import MSS_TIMESTAMPS
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe
from reports.statistics.bootstrap import Floats


def expected_log_ms(
    recipes: Sequence[Recipe], networks: Sequence[Profile], windows: Sequence[int]
) -> Mapping[int, Floats]:
    """Logarithm of page time in ms for each window, as [page, network]."""
    rates = np.array([one.down_bps for one in networks], dtype=np.float64)[:, np.newaxis] / 8e3
    trips = np.array([one.rtt_us for one in networks], dtype=np.float64)[:, np.newaxis] / 1e3
    sizes = np.array(windows, dtype=np.float64)[np.newaxis] * MSS_TIMESTAMPS
    times = np.stack([_page_ms(recipe, rates=rates, trips=trips, windows=sizes) for recipe in recipes])
    logarithms = np.log(times)
    return {window: logarithms[:, :, place] for place, window in enumerate(windows)}


def _page_ms(recipe: Recipe, *, rates: Floats, trips: Floats, windows: Floats) -> Floats:
    """Time of the page's last byte, [network, window]; rates are in bytes per ms, windows in bytes."""
    begun: dict[int, Floats] = {}
    sent: dict[int, int] = {}
    rounds: dict[int, Floats] = {}
    ends: list[Floats] = []
    # No round is waited for after the window fills the path.
    full = np.log2(1 + np.maximum(rates * trips / windows, 1))
    start = np.zeros(full.shape)
    for one in recipe.objects:
        origin = one.origin
        wanted = ends[one.parent] if 0 <= one.parent < len(ends) else start
        if origin not in begun:
            handshakes = 2 if recipe.origins[origin].tls_flight_bytes else 1
            begun[origin] = wanted + handshakes * trips
            rounds[origin] = np.ones(full.shape)
        sent[origin] = sent.get(origin, 0) + one.response_bytes
        reached = np.minimum(np.ceil(np.log2(1 + sent[origin] / windows)), full)
        waits = np.maximum(reached - rounds[origin], 0)
        rounds[origin] = np.maximum(reached, 1)
        ends.append(np.maximum(wanted, begun[origin]) + (1 + waits) * trips + one.response_bytes / rates)
    last = np.maximum.reduce(ends)
    least: Floats = 2 * trips + recipe.response_bytes / rates
    return np.maximum(last, least)
