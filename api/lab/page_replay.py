"""What a replay of one page yields, as its process writes it to the service."""

import dataclasses
import statistics
from pathlib import Path

from pydantic import TypeAdapter

WINDOWS = (3, 10, 16, 30)
"""Initial windows that are set beside each other, in segments: before RFC 6928, since,
and two that are proposed or in use."""

SEEDS = 3
"""Loads of the page at each window over each network; the first is drawn."""


RELEASED = "--released"
"""Option of the process before the folder of a release and the number of a visit."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedLoad:
    """A page load of a release, given to the lab in place of a HAR file."""

    folder: Path
    """Of the release."""
    visit: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageResponse:
    """A response of the page."""

    number: int
    address: str
    """URL without user, query and fragment."""
    size_bytes: int
    """Header, framing and body inside TLS."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResponseTimes:
    """Times of a response in one load, in ms since the page's first SYN."""

    wanted_ms: float
    """Moment at which the browser wanted it."""
    sent_ms: float
    """Moment of the request, which waits for a connection."""
    first_byte_ms: float
    last_byte_ms: float
    flights: int
    """Bursts in which it arrived, half a round trip or more apart."""
    retransmitted: bool
    """True if its connection sent bytes again meanwhile."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Loads:
    """The loads of the page over one network at one initial window."""

    network: str
    iw: int
    page_ms: tuple[float, ...]
    """Page time of each load that was done: from the first SYN to the last byte."""
    payload_bytes: int
    """Payload that the client received in these loads together."""
    sent_again_bytes: int
    """Payload that the servers sent again in these loads together."""
    responses: tuple[ResponseTimes, ...]
    """The responses of the first load in the order of PageReplay.responses;
    none if that load was not done."""
    reason: str | None = None
    """Why a load was not done; None if all were."""

    @property
    def page_us(self) -> int | None:
        """Mean page time of the loads; None without any."""
        return round(1000 * statistics.fmean(self.page_ms)) if self.page_ms else None

    @property
    def range_us(self) -> tuple[int, int] | None:
        """Shortest and longest page time; None where they are equal."""
        times = sorted(self.page_ms)
        return (round(1000 * times[0]), round(1000 * times[-1])) if times and times[0] < times[-1] else None

    @property
    def sent_again(self) -> float | None:
        """Share of the payload that was sent again; None without payload."""
        return self.sent_again_bytes / self.payload_bytes if self.payload_bytes else None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageReplay:
    """A page and its loads."""

    host: str
    responses: tuple[PageResponse, ...]
    left_out: int
    """Responses that are not replayed: their size is unknown, or they are incomplete."""
    later_requests: int
    """Requests of later page loads in the file, which are not replayed."""
    loads: tuple[Loads, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A line of the process: how many loads are done, or the end."""

    done: int = 0
    planned: int = 0
    replay: PageReplay | None = None
    refused: str | None = None
    """Why the file cannot be replayed, in a sentence for whoever gave it."""
    failed: str | None = None
    """Why the lab could not replay it."""


LINE: TypeAdapter[Message] = TypeAdapter(Message)
"""Reads and writes a line as JSON."""

TIMES: TypeAdapter[tuple[ResponseTimes, ...]] = TypeAdapter(tuple[ResponseTimes, ...])
"""Reads the rows of the responses of a load."""
