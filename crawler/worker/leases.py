"""The heartbeat of a running crawler: renews the leases of its claims while their visits may go on."""

import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from sqlalchemy import Engine

from crawler.worker import claims
from crawler.worker.claims import Claim
from schema.tables import Crawl
from storage.engine import DatabaseError

RENEW_S = claims.LEASE_S / 3
"""Interval of renewals, in seconds: two may be late before a lease ends."""


class Leases:
    """Renews leases in a thread of its own: assembling a large page keeps the event loop busy for seconds."""

    def __init__(self, engine: Engine, crawl: Crawl) -> None:
        self._engine = engine
        self._crawl = crawl
        self._held: dict[object, tuple[Claim, float]] = {}
        """The claim of each hold, and until when it is renewed, on the clock of time.monotonic.

        A claim may be held twice: once its visit is stored,
        the site may be claimed again as the same attempt.
        """
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "leases")
        self._beating: concurrent.futures.Future[None] = concurrent.futures.Future()

    def __enter__(self) -> Self:
        """Begin to renew."""
        self._beating = self._thread.submit(self._beat)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the renewals; the leases that are still held expire."""
        self._ended.set()
        self._thread.shutdown()

    @contextlib.contextmanager
    def hold(self, claim: Claim) -> Iterator[None]:
        """Renew a claim's lease, for as long as its visit and the writing of it may take.

        An error of the thread is raised here: from then on nothing would be renewed.
        """
        if self._beating.done():
            self._beating.result()
        hold = object()
        with self._changing:
            self._held[hold] = claim, time.monotonic() + claims.lease_limit_s(self._crawl)
        try:
            yield
        finally:
            with self._changing:
                del self._held[hold]

    def _beat(self) -> None:
        while not self._ended.wait(RENEW_S):
            self._renew()

    def _renew(self) -> None:
        now = time.monotonic()
        with self._changing:
            held = list({claim for claim, until in self._held.values() if now < until})
        # While the database is away nobody can claim; when it is back, the first to ask has the site.
        with contextlib.suppress(DatabaseError):
            claims.renew_claims(self._engine, held)
