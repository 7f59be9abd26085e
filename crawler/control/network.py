"""Probes the crawl's own network: checks that the address guard is whole, then asks canaries and resolves
names through it."""

import asyncio
import contextlib
import dataclasses
import json
import random
import sys
from collections import deque
from collections.abc import Sequence

from crawler.control.canaries import Canary
from crawler.control.probe import WITHIN_S, Probe, ProbeResult
from crawler.control.resolvers import Resolver, ask_resolvers, describe_lack
from crawler.egress.guard import AddressGuard
from crawler.errors import EgressUnavailable, GuardEnded

MEND_WITHIN_S = 60.0
"""Time for which mending the guard may fail before the run ends, in seconds."""

NAMES_KEPT = 64

NAMES_ASKED = 3
"""Known names that a probe resolves, each with a made-up name below it, which no cache has."""

ENDS_WITHIN_S = WITHIN_S + 4.0
"""Time limit of the probe process, its start included, in seconds."""


@dataclasses.dataclass(frozen=True, slots=True)
class NetworkFault:
    """A fault of our own network."""

    reason: str
    guard: bool = False
    """True if the address guard was not whole: then even a page that loaded well says nothing."""
    is_certain: bool = True
    """False if the site may be at fault instead."""


class CrawlNetwork:
    """The network through which visits are made: this machine's, within the guard if there is one."""

    def __init__(
        self,
        canaries: Sequence[Canary],
        guard: AddressGuard | None,
        resolvers: Sequence[Resolver] | None = None,
    ) -> None:
        """Take `resolvers`, which are asked about names that do not resolve; None for a web without DNS."""
        self._canaries = list(canaries)
        self._guard = guard
        self._resolvers = None if resolvers is None else list(resolvers)
        self._known: deque[str] = deque(maxlen=NAMES_KEPT)
        self._broken_since: float | None = None

    async def check_guard(self) -> NetworkFault | None:
        """Return the guard's fault, without mending."""
        if self._guard is None:
            return None
        try:
            await asyncio.to_thread(self._guard.check)
        except EgressUnavailable as exc:
            return NetworkFault(str(exc), guard=True)
        self._broken_since = None
        return None

    def note_resolved(self, host: str) -> None:
        if self._resolvers is not None and host not in self._known:
            self._known.append(host)

    async def check_resolver(self, names: Sequence[str]) -> NetworkFault | None:
        """Return our resolver's fault if names exist, or may exist, that the browser could not resolve.

        Second resolvers are asked, from outside the guard.
        """
        if self._resolvers is None:
            return None
        uncertain = None
        for name in names:
            # As with canaries: no operator is asked more than the others.
            self._resolvers[:] = [*self._resolvers[1:], *self._resolvers[:1]]
            opinion = await ask_resolvers(self._resolvers, name)
            if opinion == "exists":
                return NetworkFault(f"our resolver does not resolve {name}, and another does")
            if opinion == "unknown":
                uncertain = NetworkFault(f"no other resolver tells whether {name} exists", is_certain=False)
        return uncertain

    async def describe_lack(self) -> str | None:
        return None if self._resolvers is None else await describe_lack(self._resolvers)

    async def probe(self) -> NetworkFault | None:
        """Return the network's fault; EgressUnavailable if the guard cannot be mended.

        A broken guard is mended, which is a fault even so; else canaries are asked.
        """
        broken = await self.check_guard()
        if broken is not None:
            return await self._mend(broken)
        # Each probe begins with another canary: no operator is asked more than the others.
        self._canaries.append(self._canaries.pop(0))
        return await self._probe_canaries()

    async def _mend(self, broken: NetworkFault) -> NetworkFault:
        assert self._guard is not None
        now = asyncio.get_running_loop().time()
        self._broken_since = self._broken_since if self._broken_since is not None else now
        try:
            await asyncio.to_thread(self._guard.mend)
        except EgressUnavailable as exc:
            if isinstance(exc, GuardEnded) or now - self._broken_since >= MEND_WITHIN_S:
                raise
            return NetworkFault(str(exc), guard=True)
        self._broken_since = None
        return NetworkFault(f"{broken.reason}; mended", guard=True)

    async def _probe_canaries(self) -> NetworkFault | None:
        result = await run_probe(
            Probe(
                canaries=self._canaries,
                names=random.sample(list(self._known), min(NAMES_ASKED, len(self._known))),
                namespace_pid=None if self._guard is None else self._guard.namespace_pid,
            )
        )
        if result.good:
            return None
        errors = ", ".join(f"{name}: {words}" for name, words in result.errors.items())
        fault = "names do not resolve" if result.resolver else "no canary answers"
        return NetworkFault(f"{fault} ({errors or 'none in time'})")


async def run_probe(request: Probe) -> ProbeResult:
    """Run crawler.control.probe; cancelled, it leaves no process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-m", "crawler.control.probe", json.dumps(dataclasses.asdict(request))),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={},
        start_new_session=True,  # Ctrl-C is for the crawl, which then ends the probe
    )
    try:
        async with asyncio.timeout(ENDS_WITHIN_S):
            output, _ = await process.communicate()
    except TimeoutError:
        output = b""
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return ProbeResult(**json.loads(output)) if output else ProbeResult(good=False, errors={})
