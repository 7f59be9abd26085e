"""The heartbeat of a running crawler: the leases of its claims are renewed while their visits may go on."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Self

from crawler.worker import claims
from storage.engine import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from sqlalchemy import Engine

    from crawler.visit.claim import Claim
    from schema.tables import Crawl

RENEW_S = claims.LEASE_S / 3
"""Between two renewals: two of them may be late before a lease is over."""


class Leases:
    """A thread of its own: assembling a large page keeps the event loop busy for seconds."""

    def __init__(self, engine: Engine, crawl: Crawl) -> None:
        self._engine = engine
        self._crawl = crawl
        self._held: dict[Claim, float] = {}
        """Until when each is renewed, on the clock of time.monotonic."""
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End; what is still held expires."""
        self._ended.set()
        self._thread.join()

    @contextlib.contextmanager
    def hold(self, claim: Claim) -> Iterator[None]:
        """Renew a claim's lease, for as long as its visit and the writing of it may take."""
        if self._bug is not None:
            raise self._bug
        with self._changing:
            self._held[claim] = time.monotonic() + claims.longest_s(self._crawl)
        try:
            yield
        finally:
            with self._changing:
                del self._held[claim]

    def _beat(self) -> None:
        try:
            while not self._ended.wait(RENEW_S):
                self._renew()
        except BaseException as exc:  # noqa: BLE001  # a bug of ours: raised again where somebody listens
            self._bug = exc

    def _renew(self) -> None:
        now = time.monotonic()
        with self._changing:
            held = [claim for claim, until in self._held.items() if now < until]
        # A database that is away: whoever is first when it is back has the site.
        with contextlib.suppress(DatabaseError):
            claims.renew(self._engine, held)
