"""Loads of the paper's services over its networks, and what they show in the paper's own quantities."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from replay.backcast.networks import networks, strata
from replay.backcast.published import QUANTILES, DataCenter
from replay.lab.guest_process import Lab, usable_cpus
from replay.networks.mlab.joint import Floats
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import CellRow, make_cells
from replay.runs.conditions import PLAIN
from replay.runs.guests import GuestProgress
from replay.runs.policy import at_once
from replay.runs.run import replay

Rows = list[CellRow]

CONDITIONS = dataclasses.replace(PLAIN, congestion_control="rfc2581", receiver="windows")
"""Servers and clients of 2010: windows grew by the number of acknowledgements,
and clients acknowledged every second segment."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of the back-cast that the paper does not print and that its figures at IW 3 calibrate."""

    rate_factor: Mapping[DataCenter, float]
    """Rate of a connection over Fig 3's bandwidth, which is a subnet's mean over its connections."""
    loss: Mapping[DataCenter, float]
    """Share of packets lost at random in each direction."""
    burst: float
    queue_bytes: int
    shallow_share: float = 0.0

    def networks(self, center: DataCenter) -> list[Profile]:
        return networks(
            center,
            rate_factor=self.rate_factor[center],
            queue_bytes=self.queue_bytes,
            shallow_share=self.shallow_share,
            loss=self.loss[center],
            burst=self.burst,
        )


def measure(
    lab: Lab,
    center: DataCenter,
    pages: Sequence[Recipe],
    inputs: Inputs,
    *,
    windows: Sequence[int],
    seeds: int = 1,
    progress: GuestProgress | None = None,
) -> Rows:
    networks = inputs.networks(center)
    cells = make_cells(pages, networks, policies=at_once(*windows), seeds=seeds, conditions=[CONDITIONS])
    return replay(lab, cells, guests=len(usable_cpus()), progress=progress).rows


def weights_of(rows: Rows, center: DataCenter) -> Floats:
    shares = strata(center).weights
    weights: Floats = np.array([shares[int(row["profile"].rsplit("-", 1)[1]) - 1] for row in rows])
    return weights


def segments_percent(rows: Rows, center: DataCenter, iw: int, part: str = "segments_retransmitted") -> float:
    """Return a column of segments in percent of all, over the loads at one window."""
    return _percent(rows, center, iw, part, "segments_sent")


def responses_percent(rows: Rows, center: DataCenter, iw: int) -> float:
    """Return the responses with a retransmission, in percent, over the loads at one window."""
    return _percent(rows, center, iw, "responses_own_retransmitted", "responses")


def _percent(rows: Rows, center: DataCenter, iw: int, part: str, whole: str) -> float:
    done = [row for row in rows if row["iw"] == iw and row["state"] == "done"]
    weights = weights_of(done, center)
    again, sent = (float(weights @ np.array([row[name] for row in done], float)) for name in (part, whole))
    return 100 * again / sent


def latencies_ms(rows: Rows, center: DataCenter, inputs: Inputs, iw: int) -> tuple[Floats, Floats]:
    """Return the latencies as the paper's servers saw them, without back-end time, and their weights,
    ascending.

    From the request's arrival to the acknowledgement of the last byte: a round trip less than from the first
    SYN.
    """
    done = [row for row in rows if row["iw"] == iw and row["state"] == "done"]
    rtts = {network.id: network.rtt_us / 1e3 for network in inputs.networks(center)}
    latencies: Floats = np.array([row["page_ms"] - rtts[row["profile"]] for row in done])
    order = np.argsort(latencies, kind="stable")
    weights = weights_of(done, center)[order]
    return latencies[order], weights / weights.sum()


def mean_and_quantiles(values: Floats, weights: Floats) -> tuple[float, tuple[float, ...]]:
    ends = np.cumsum(weights)
    places = [min(int(np.searchsorted(ends, share)), len(values) - 1) for share in QUANTILES]
    return float(weights @ values), tuple(float(values[place]) for place in places)
