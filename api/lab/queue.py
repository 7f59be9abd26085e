"""The lab's queue: one replay at a time, few waiting, and results in memory for a while."""

import asyncio
import contextlib
import dataclasses
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

from api.computing import busy
from api.http.clients import Quota
from api.http.problems import Problem
from api.lab.page_replay import PageReplay, ReleasedLoad

LIMIT_S = 60.0

MOST_WAITING = 5

MOST_EACH = 3
"""Most pages of a client in the queue, and most of its uploads."""

MOST_UPLOADS = 64

MOST_UPLOADED_BYTES = 100_000_000
"""Most bytes of all uploads."""

KEPT_S = 900.0

MOST_KEPT = 20

SHORTER = "choose fewer or faster networks, or a smaller page"

Content = bytes | ReleasedLoad

Replayer = Callable[[Content, Sequence[str], Callable[[int, int], None]], Awaitable[PageReplay]]
"""Replays a page over networks, and tells how many loads are done; Problem."""


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class Job:
    """A page that was given to the lab."""

    id: str
    """Name that nobody can guess: whoever has it sees the result."""
    client: str
    networks: tuple[str, ...]
    content: Content
    """Empty once replayed."""
    done: int = 0
    planned: int = 0
    result: PageReplay | None = None
    problem: tuple[str, str] | None = None
    ended: float | None = None

    def progress(self, done: int, planned: int) -> None:
        self.done, self.planned = done, planned


class Queue:
    """Pages in the order of their arrival: those whose replay has ended, the one that is replayed, and those
    that wait."""

    def __init__(
        self, replayer: Replayer, *, limit_s: float = LIMIT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._replayer = replayer
        self._limit_s = limit_s
        self._clock = clock
        self._uploads = Quota(
            MOST_UPLOADS, MOST_EACH, lambda: _busy("too many files are being uploaded to the lab")
        )
        self._uploaded_bytes = 0
        self._jobs: dict[str, Job] = {}
        self._turn = asyncio.Lock()  # it is given in the order in which it is asked for
        self._work: set[asyncio.Task[None]] = set()

    @contextlib.contextmanager
    def upload(self, client: str) -> Iterator[Callable[[int], None]]:
        """Yield a function that counts an upload's bytes; Problem without room for it, or for the client.

        An upload holds no place in the queue: whoever sends nothing keeps nobody out.
        """
        self._check_places(client)
        arrived = 0

        def count(number: int) -> None:
            nonlocal arrived
            if self._uploaded_bytes + number > MOST_UPLOADED_BYTES:
                raise _busy("too many files are being uploaded to the lab")
            arrived += number
            self._uploaded_bytes += number

        with self._uploads.take(client):
            try:
                yield count
            finally:
                self._uploaded_bytes -= arrived

    @property
    def _open(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.ended is None]

    def _check_places(self, client: str) -> None:
        if len(self._open) > MOST_WAITING:
            raise _busy(f"{MOST_WAITING} pages wait for the lab already")
        if sum(job.client == client for job in self._open) >= MOST_EACH:
            raise _busy(f"{MOST_EACH} pages of yours are in the lab already")

    def add(self, content: Content, networks: Sequence[str], client: str) -> Job:
        """Put a page at the end of the queue; Problem if its place was taken during the upload."""
        self._check_places(client)
        job = Job(id=secrets.token_urlsafe(16), networks=tuple(networks), content=content, client=client)
        self._jobs[job.id] = job
        work = asyncio.create_task(self._replay(job))
        self._work.add(work)
        work.add_done_callback(self._work.discard)
        return job

    def find(self, id: str) -> Job:  # noqa: A002  # the field's name
        """The job with this id; Problem if it is unknown or forgotten."""
        self._forget()
        if id not in self._jobs:
            raise Problem(
                "no-such-replay", f"there is no such replay; results are kept for {KEPT_S / 60:.0f} minutes"
            )
        return self._jobs[id]

    def ahead(self, job: Job) -> int:
        """Pages that are replayed before this one."""
        return self._open.index(job) if job.ended is None else 0

    async def close(self) -> None:
        for work in self._work:
            work.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self._jobs.clear()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if job.ended is not None]
        oldest = self._clock() - KEPT_S
        for place, job in enumerate(reversed(ended)):
            if place >= MOST_KEPT or (job.ended or 0) < oldest:
                del self._jobs[job.id]

    async def _replay(self, job: Job) -> None:
        try:
            async with self._turn, asyncio.timeout(self._limit_s):
                job.result = await self._replayer(job.content, job.networks, job.progress)
        except TimeoutError:
            job.problem = ("replay-too-long", f"the replay took longer than {self._limit_s:.0f} s: {SHORTER}")
        except Problem as problem:
            job.problem = (problem.kind.id, problem.detail)
        finally:
            job.content = b""
            if job.result is None and job.problem is None:
                job.problem = ("replay-failed", "the lab failed")
            job.ended = self._clock()
            self._forget()
            asyncio.get_running_loop().call_later(KEPT_S + 1, self._forget)


def _busy(why: str) -> Problem:
    return busy(why, again_s=LIMIT_S, is_last=True)


def outcome(job: Job) -> PageReplay | None:
    """The result of a job, None before its end; raises its Problem."""
    if job.problem is not None:
        kind, detail = job.problem
        raise Problem(kind, detail)
    return job.result
