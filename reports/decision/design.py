"""The design of a stage: which pages are drawn over which networks,
evenly spread over both and without repeating a page early.

Pages come in rounds: each page once in a round, in an order of which every part is spread evenly over sizes.
The order, the networks and the seeds depend on the number of the run: runs of other numbers are other draws.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from reports.decision.draws import SEEDS_OF_A_DRAW, Integers
from reports.statistics.bootstrap import Floats

PLASTIC = 1.324717957244746
"""The generalised golden ratio of two dimensions: its powers make the additive
recurrence of least discrepancy known."""

ROUNDS_OF_A_RUN = 500
"""Most rounds through the pages in one run: further runs have other seeds."""

LEAST_A_NETWORK = 4
"""Draws of each network in the first stage of a condition, which show its spread even if one fails."""

EVEN_SHARE = 0.2
"""Share of draws that are spread by weight alone, in case a spread was found too small by chance. Ours."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A page and a network to replay, by their places in the frame, and the seed."""

    page: int
    network: int
    seed: int


def pairs(counts: Integers, *, first: int, pages: int, run: int, condition: str) -> list[Pair]:
    """The draws from number `first` on, `counts` [network] over each network.

    Pages are numbered by size and networks by rate. Draws of further stages continue where `first` says.
    """
    rng = np.random.Generator(np.random.PCG64(_number(f"{run}|{condition}")))
    page_shift, network_shift = rng.random(2)
    numbers = np.arange(first, first + int(counts.sum()))
    rounds, places = numbers // pages, numbers % pages
    orders = {
        number: np.argsort((page_shift + number * PLASTIC + np.arange(pages) / PLASTIC) % 1, kind="stable")
        for number in np.unique(rounds).tolist()
    }
    heights = (network_shift + numbers / PLASTIC**2) % 1
    networks = np.empty(len(numbers), dtype=np.intp)
    networks[np.argsort(heights, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return [
        Pair(int(orders[turn][place]), int(network), _seed(run, turn))
        for turn, place, network in zip(rounds.tolist(), places.tolist(), networks.tolist(), strict=True)
    ]


def _seed(run: int, turn: int) -> int:
    """The odd seed of a round; the even one after it is the incumbent's second."""
    return 1 + SEEDS_OF_A_DRAW * ((run - 1) * ROUNDS_OF_A_RUN + turn)


def allocate(draws: int, need: Floats, prices: Floats, weights: Floats, *, least: int = 0) -> Integers:
    """Number of draws for each network by Neyman: in proportion to the need's root over the price's root.

    `need` is what a draw adds to the squared errors in question, in units of their squared distance to their
    limits; all zero: unknown, then weights stand for it. Networks with `weights` have at least `least`.
    """
    even = weights / np.sqrt(prices)
    wanted = np.sqrt(need / prices)
    shares = even / even.sum()
    if wanted.sum() > 0:
        shares = EVEN_SHARE * shares + (1 - EVEN_SHARE) * wanted / wanted.sum()
    counts = np.where(weights > 0, least, 0).astype(np.intp)
    return counts + _rounded(max(0, draws - int(counts.sum())) * shares)


def _rounded(exact: Floats) -> Integers:
    """Whole numbers with the same sum, by the largest remainder.

    >>> _rounded(np.array([1.4, 1.4, 1.2])).tolist()
    [2, 1, 1]
    """
    whole = np.floor(exact).astype(np.intp)
    left = round(float(exact.sum())) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
    return whole


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
