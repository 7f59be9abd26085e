"""Groups of lines for which the answer may differ: by round trip and by rate."""

from dataclasses import dataclass, replace

import numpy as np

from verdict.evidence import Evidence
from verdict.student import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lines between two bounds."""

    # Stable: written into every verdict.
    id: str
    title: str
    column: str
    """`rtt_ms` or `down_bps`: the access line's, without the distance beyond it."""
    above: float = -np.inf
    up_to: float = np.inf

    def of(self, evidence: Evidence) -> Mask:
        """Return the draws over such a line."""
        values = evidence.of_network(self.column)
        mask: Mask = (values > self.above) & (values <= self.up_to)
        return mask


GROUPS = (
    Group(id="rtt-20", title="lines of 20 ms or less", column="rtt_ms", up_to=20),
    Group(id="rtt-50", title="lines of 20 to 50 ms", column="rtt_ms", above=20, up_to=50),
    Group(id="rtt-beyond", title="lines beyond 50 ms", column="rtt_ms", above=50),
    Group(id="slow", title="lines below 6 Mbps", column="down_bps", up_to=6e6),
    Group(id="middle", title="lines of 6 to 25 Mbps", column="down_bps", above=6e6, up_to=25e6),
    Group(id="quick", title="lines above 25 Mbps", column="down_bps", above=25e6),
)


def select_group(evidence: Evidence, group: Group) -> Evidence:
    """Return the draws of a group; each stratum counts by the part of its draws that are in it."""
    mask = group.of(evidence)
    stratum = evidence.of_network("stratum").astype(np.intp)
    most = int(stratum.max(initial=0)) + 1
    part = np.bincount(stratum[mask], minlength=most) / np.maximum(np.bincount(stratum, minlength=most), 1)
    networks = tuple(
        replace(
            network, share=network.share * float(part[network.stratum]) if network.stratum < most else 0.0
        )
        for network in evidence.networks
    )
    return replace(evidence, networks=networks).where(mask)


def share_of(evidence: Evidence, group: Group) -> float:
    """Return the share of the population's lines that are in the group."""
    inside = select_group(evidence, group)
    shares = {network.stratum: network.share for network in inside.networks}
    return float(sum(shares.values()))
