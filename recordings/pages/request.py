"""One recorded request and its response, as a row of requests.parquet has them."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

MULTIPLEXED = ("h2", "h3")
"""Protocols with several streams on a connection."""

CACHEABLE = ("GET", "HEAD")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest:
    """A row of requests.parquet; docs/recorded-pages.md defines the columns."""

    entry: int
    is_main_document: bool
    started_ms: float
    origin: int
    site: int
    address: int | None
    scheme: str
    protocol: str
    method: str
    destination: str | None
    status: int | None
    mime_type: str | None
    content_encoding: str | None
    content_length: int | None
    transfer_bytes: int | None
    har_body_size: int | None
    har_headers_size: int | None
    request_body_bytes: int | None
    cache_control: str | None
    age: str | None
    has_validator: bool | None
    tls: str | None
    dns_ms: float | None
    connect_ms: float | None
    ssl_ms: float | None
    wait_ms: float | None
    receive_ms: float | None
    referer_entry: int | None
    referer_is_origin_only: bool | None
    redirected_from: int | None

    @property
    def began_us(self) -> int:
        """Time at which the browser began the request, in µs since the page's first."""
        return microseconds(self.started_ms)

    @property
    def has_arrived(self) -> bool:
        """True if a response came, from the network or a cache."""
        return self.status is not None

    @property
    def is_redirect(self) -> bool:
        """True if the response sent the browser elsewhere."""
        return self.status is not None and 300 <= self.status < 400 and self.status != 304

    @property
    def from_cache(self) -> bool:
        """True if the browser counted not one byte of a response to GET, and sent no header of its own.

        Playwright takes the body to be what was transferred less the header: the negative of the header means
        that nothing was transferred. Redirects have neither.
        """
        return (
            self.has_arrived
            and self.transfer_bytes is None
            and self.destination is None
            and self.method in CACHEABLE
            and self.har_body_size is not None
            and self.har_headers_size is not None
            and self.har_body_size == -self.har_headers_size < 0
        )

    @property
    def crossed_network(self) -> bool:
        """True if a response arrived over the network."""
        return self.has_arrived and not self.from_cache

    @property
    def is_multiplexed(self) -> bool:
        """True over HTTP/2 and HTTP/3."""
        return self.protocol in MULTIPLEXED

    @property
    def opens_connection(self) -> bool:
        """True if a connection was opened for this request."""
        return self.crossed_network and self.connect_ms is not None


HINTS: dict[str, Any] = get_type_hints(PageRequest)

COLUMNS: dict[str, type] = {
    "page": int,
    **{name: getattr(hint, "__args__", (hint,))[0] for name, hint in HINTS.items()},
}
"""Types of the columns of requests.parquet that are read, by name."""

NEVER_NULL = tuple(name for name, hint in HINTS.items() if hint is COLUMNS[name])


def request_of(row: Mapping[str, Any]) -> PageRequest:
    """A request from its row; ValueError if a value is null that must be known."""
    if lacking := [name for name in NEVER_NULL if row[name] is None]:
        raise ValueError(f"a request without {', '.join(lacking)}")
    return PageRequest(**{name: row[name] for name in HINTS})


def alpn(protocol: str) -> str:
    """The ALPN name of a protocol; HTTP/1.0 has none, and counts as HTTP/1.1."""
    return protocol if protocol in MULTIPLEXED else "http/1.1"


def microseconds(milliseconds: float) -> int:
    """Milliseconds as whole microseconds.

    >>> microseconds(164.1)
    164100
    """
    return round(1000 * milliseconds)
