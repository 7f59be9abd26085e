"""Pairs of loads from a study's table as evidence, for the estimators of the verdict."""

import math
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from releases.interval import Interval
from verdict.effects import Effects, Name, percent_saved
from verdict.evidence import Evidence, Network


def evidence_of_pairs(table: pa.Table, visits: npt.NDArray[np.intp]) -> Evidence:
    """Return the networks of a table's rows, by its columns network, stratum and share, without any value.

    `visits` has each row's cluster of pages.
    """
    ids, places = np.unique(np.array(table["network"].to_pylist()), return_inverse=True)
    firsts = np.unique(places, return_index=True)[1]
    strata, shares = table["stratum"].to_numpy(), table["share"].to_numpy()
    return Evidence(
        networks=tuple(
            Network(id=str(ids[place]), stratum=int(strata[first]), share=float(shares[first]))
            for place, first in enumerate(firsts)
        ),
        visits=visits,
        places=places.astype(np.intp),
        windows=(),
        values={},
        again={},
        states={},
    )


def saved(effects: Effects, quantity: str, of: Hashable, tail: float) -> Interval:
    """Return page time saved in per cent, of the logarithm's change, or what is sent again more in percentage
    points."""
    interval = effects.of(quantity, of).interval(tail)
    return percent_saved(interval) if quantity == "page" else interval


def net_benefit_factors(effects: Effects, of: Hashable, *, price_pp: float) -> dict[Name, float]:
    """Return the combination whose error is that of the net benefit, by the delta method."""
    slope = 100 * math.exp(float(effects.values[effects.names["page", of]]))
    return {("page", of): -price_pp * slope, ("resent", of): -1.0}


def net_benefit(effects: Effects, of: Hashable, tail: float, *, price_pp: float) -> Interval:
    """Return the price times per cent of page time saved, less payload sent again, in percentage points."""
    gain = 100 * -math.expm1(float(effects.values[effects.names["page", of]]))
    value = price_pp * gain - float(effects.values[effects.names["resent", of]])
    interval = effects.combine(net_benefit_factors(effects, of, price_pp=price_pp)).interval(tail)
    half = interval.upper - interval.estimate
    return Interval(value, value - half, value + half)
