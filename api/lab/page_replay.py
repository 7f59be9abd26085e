"""What a replay of one page yields, as its process writes it to the service."""

import dataclasses
import statistics
from pathlib import Path

from pydantic import TypeAdapter

WINDOWS = (3, 10, 16, 30)
"""Windows beside each other: before RFC 6928, since, and two proposed or in use."""

SEEDS = 3


RELEASED = "--released"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedLoad:
    """A page load of a release, given to the lab in place of a HAR file."""

    folder: Path
    visit: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageResponse:
    """A response of the page."""

    number: int
    address: str
    size_bytes: int
    """Size with header and framing, inside TLS."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResponseTimes:
    """Times of a response in one load, in ms since the page's first SYN."""

    wanted_ms: float
    sent_ms: float
    first_byte_ms: float
    last_byte_ms: float
    flights: int
    """Bursts, half a round trip or more apart."""
    retransmitted: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Loads:
    """The loads of the page over one network at one initial window."""

    network: str
    iw: int
    page_ms: tuple[float, ...]
    """Page time of each load that was done, from the first SYN to the last byte."""
    payload_bytes: int
    sent_again_bytes: int
    responses: tuple[ResponseTimes, ...]
    """Times of the first load, in the order of PageReplay.responses."""
    reason: str | None = None

    @property
    def page_us(self) -> int | None:
        return round(1000 * statistics.fmean(self.page_ms)) if self.page_ms else None

    @property
    def range_us(self) -> tuple[int, int] | None:
        times = sorted(self.page_ms)
        return (round(1000 * times[0]), round(1000 * times[-1])) if times and times[0] < times[-1] else None

    @property
    def sent_again(self) -> float | None:
        return self.sent_again_bytes / self.payload_bytes if self.payload_bytes else None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageReplay:
    """A page and its loads."""

    host: str
    responses: tuple[PageResponse, ...]
    left_out: int
    """Responses that are not replayed: of unknown size, or incomplete."""
    later_requests: int
    loads: tuple[Loads, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A line of the process: how many loads are done, or the end."""

    done: int = 0
    planned: int = 0
    replay: PageReplay | None = None
    refused: str | None = None
    failed: str | None = None


LINE: TypeAdapter[Message] = TypeAdapter(Message)

TIMES: TypeAdapter[tuple[ResponseTimes, ...]] = TypeAdapter(tuple[ResponseTimes, ...])
