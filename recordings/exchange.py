"""One request and its response as somebody else's recording has them,
in the terms that all recordings share."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urldefrag, urlsplit

import idna

from crawler.sites.lists import to_ascii
from recordings.sizes import ResponseSizes


class RecordingError(Exception):
    """A file or folder holds no recording that can be read; the message says what is wrong,
    and what to do."""


REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Redirect statuses (Fetch standard); a browser shows every other 3xx as a document."""

HTTP = ("http", "https")

MOST_LETTERS = 255
"""Longest word that is kept."""

MOST_URL = 2**21
"""Longest URL that is read; Chrome's limit."""

PORTS = frozenset({"", "0", "-1", "80", "443"})
"""Values of recorders that write the server's port, or nothing, instead of a connection."""


class OddValue(ValueError):
    """A value that no request or response can have; the message is the reason."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Times of an exchange in µs on the recording's clock; None if not recorded."""

    sent: int | None = None
    """Time of sending the request."""
    first_byte: int | None = None
    """Arrival of the first byte of the response's header."""
    last_byte: int | None = None
    opened: int | None = None
    """First SYN of the connection, if this exchange opened it."""
    connected: int | None = None
    """End of the TCP handshake."""


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class RecordedExchange:
    """One request and its response in a recording."""

    url: str
    method: str
    status: int = 0
    """HTTP status; 0 if no response arrived."""
    mime_type: str = ""
    resource_type: str = ""
    """The browser's type, in lower case; empty if not recorded."""
    destination: str = ""
    """Sec-Fetch-Dest, in lower case; empty if not recorded."""
    frame: str = ""
    """The frame that asks or navigates; empty if not recorded."""
    request_body_bytes: int | None = None
    sizes: ResponseSizes = dataclasses.field(default_factory=ResponseSizes)
    header_text_bytes: int | None = None
    """Size of the header's text, which bounds a compressed one; None if no header was recorded."""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """Response headers by lower-case name; repeated ones are joined by line feeds."""
    protocol: str = ""
    """http/1.0, http/1.1, spdy, h2 or h3; empty if unknown."""
    initiator: str | None = None
    referer: str | None = None
    location: str | None = None
    """Target of a redirect, as an absolute URL."""
    redirected_from: RecordedExchange | None = None
    started_s: float = 0.0
    connection: str = ""
    address: str = ""
    times: Times = dataclasses.field(default_factory=Times)
    is_internal: bool = False
    """True for a redirect by the browser itself (HSTS), which never crossed the network."""
    begins_load: bool = False
    is_document: bool = False
    page: str | None = None

    @property
    def is_redirect(self) -> bool:
        """True if the response sends the browser elsewhere, by a usable Location."""
        return self.status in REDIRECTS and (self.location is not None or not self.headers)

    @property
    def is_cached(self) -> bool:
        return self.sizes.wire_bytes_unknown == "from_cache"

    @property
    def host(self) -> str:
        return host_name(urlsplit(self.url))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedPage:
    """A page of a recording."""

    id: str
    title: str
    load_us: int | None
    """Time of the load event in µs since the page's start; None if not recorded."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """The content of a recording, whatever its form."""

    tool: str
    browser: str = ""
    exchanges: list[RecordedExchange]
    untimed: list[RecordedExchange] = dataclasses.field(default_factory=list)
    """Exchanges whose times cannot be true; `started_s` is that of a neighbour."""
    pages: tuple[RecordedPage, ...] = ()
    epoch_s: float | None = 0.0
    splits_by_silence: bool = False
    """True if only a pause separates one page load from the next."""
    odd: tuple[tuple[int, str], ...] = ()
    """Number and reason of each entry that is left out since its values cannot be true."""


def host_name(url: SplitResult) -> str:
    """Return the host of a URL in lower case, as A-labels (RFC 5890) and without a final dot.

    >>> host_name(urlsplit("https://Bücher.example./")), host_name(urlsplit("about:blank"))
    ('xn--bcher-kva.example', '')
    """
    try:
        return to_ascii((url.hostname or "").lower().removesuffix("."))
    except idna.IDNAError as exc:
        raise OddValue("malformed request.url") from exc


def fill_starts(starts: Sequence[float | None]) -> list[float]:
    """Return starts with that of the next, or a moment after the last, in the place of each unknown one.

    >>> fill_starts([None, 2.0, None]), fill_starts([None])
    ([2.0, 2.0, 2.0000000000000004], [])
    """
    known = [start for start in starts if start is not None]
    following = math.nextafter(known[-1], math.inf) if known else 0.0
    filled: list[float] = []
    for start in reversed(starts) if known else ():
        following = following if start is None else start
        filled.append(following)
    return filled[::-1]


def port_of(exchange: RecordedExchange) -> int:
    url = urlsplit(exchange.url)
    return url.port or (443 if url.scheme == "https" else 80)


def check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # ValueError if it is none
        is_sound = len(url) <= MOST_URL and (parts.scheme not in HTTP or bool(parts.hostname))
    except ValueError as exc:
        raise OddValue("malformed request.url") from exc
    if not is_sound:
        raise OddValue("malformed request.url")
    if parts.scheme in HTTP:
        check_word(host_name(parts), "request.url")


def check_word(text: str | None, name: str) -> str:
    """Return short, printable text; OddValue, which names the field, otherwise."""
    letters = text or ""
    if len(letters) > MOST_LETTERS or not letters.isprintable():
        raise OddValue(f"malformed {name}")
    return letters


def media_type(value: str | None) -> str:
    """Return a media type without parameters, in lower case.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return (value or "").partition(";")[0].strip().lower()


def connection_name(recorded: object) -> str:
    """Return the name of a connection; empty if it distinguishes none."""
    name = "" if recorded is None else str(recorded)
    return "" if name in PORTS else name


def strip_fragment(url: str) -> str:
    return urldefrag(url).url


PROTOCOLS = (
    (re.compile(r"h3|http/3|.*quic"), "h3"),
    (re.compile(r"spdy"), "spdy"),
    (re.compile(r"h2|http/2|2\.0|2 "), "h2"),
    (re.compile(r"(http/)?1\.0$"), "http/1.0"),
    (re.compile(r"(http/)?1\.1$"), "http/1.1"),
)


def protocol_name(recorded: str | None) -> str:
    """Return the recorded protocol by one name; empty if it is missing or no version of HTTP.

    >>> protocol_name("HTTP/2.0"), protocol_name("http/2+quic/43"), protocol_name("1.1"), protocol_name("unknown")
    ('h2', 'h3', 'http/1.1', '')
    """  # noqa: E501
    name = (recorded or "").lower()
    return next((known for pattern, known in PROTOCOLS if pattern.match(name)), "")
