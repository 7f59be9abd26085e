"""Networks that are played."""

import asyncio
import dataclasses
from collections.abc import Sequence

from crawler.control.network import CrawlNetwork, NetworkFault
from crawler.errors import EgressUnavailable


@dataclasses.dataclass
class Weather(CrawlNetwork):
    """Plays our own network: it goes down on request, and is back after `back_after` probes."""

    fault: NetworkFault | None = None
    back_after: int = 3
    probes: int = 0
    lost: bool = False
    left: int = 0

    def fails(self, *, guard: bool = False) -> None:
        self.fault, self.left = NetworkFault("cut", guard=guard), self.back_after

    async def probe(self) -> NetworkFault | None:
        self.probes += 1
        await asyncio.sleep(0)
        if self.lost:
            raise EgressUnavailable("the guard is gone")
        fault = self.fault
        if fault is not None:
            self.left -= 1
            self.fault = fault if self.left else None
        return fault

    unresolved: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()
    known: list[str] = dataclasses.field(default_factory=list)

    def note_resolved(self, host: str) -> None:
        self.known.append(host)

    async def check_resolver(self, names: Sequence[str]) -> NetworkFault | None:
        if self.untold & set(names):
            return NetworkFault("untold", is_certain=False)
        return NetworkFault("disputed") if self.unresolved & set(names) else None

    async def describe_lack(self) -> str | None:
        return None

    async def check_guard(self) -> NetworkFault | None:
        return self.fault if self.fault is not None and self.fault.guard else None


@dataclasses.dataclass
class Silent(Weather):
    """Answers the first probe, and no other."""

    def __post_init__(self) -> None:
        self.hangs = asyncio.Event()

    async def probe(self) -> NetworkFault | None:
        self.probes += 1
        if self.probes > 1:
            self.hangs.set()
            await asyncio.Event().wait()
        return None
