"""Translates Playwright's errors into errors of visits; no other module does."""

import re

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from crawler.errors import (
    BadResponse,
    ConnectError,
    DNSError,
    NavigationAborted,
    NetworkChanged,
    PageCrashed,
    RedirectLoop,
    TLSError,
    VisitError,
    VisitTimeout,
)

NET_ERRORS: list[tuple[str, type[VisitError]]] = [
    ("NAME_", DNSError),
    ("DNS_", DNSError),
    ("ICANN_NAME_COLLISION", DNSError),
    ("CONNECTION_CLOSED", BadResponse),
    ("CONNECTION_", ConnectError),
    ("ADDRESS_", ConnectError),
    ("INTERNET_DISCONNECTED", ConnectError),
    ("NETWORK_CHANGED", NetworkChanged),
    ("NETWORK_", ConnectError),
    ("SOCKET_", ConnectError),
    ("TIMED_OUT", ConnectError),
    ("SSL_", TLSError),
    ("CERT_", TLSError),
    ("BAD_SSL_CLIENT_AUTH_CERT", TLSError),
    ("ECH_", TLSError),
    ("TOO_MANY_REDIRECTS", RedirectLoop),
    ("EMPTY_RESPONSE", BadResponse),
    ("INVALID_", BadResponse),
    ("RESPONSE_", BadResponse),
    ("INCOMPLETE_", BadResponse),
    ("CONTENT_", BadResponse),
    ("HTTP", BadResponse),
    ("QUIC_", BadResponse),
    ("UNSAFE_REDIRECT", BadResponse),
]
"""Errors by the beginning of Chromium's error name.

The first that fits decides; without one the navigation was aborted.
"""

_CRASHED = re.compile(r"\b(?:Page|Target) crashed")
"""Playwright's message of a crash; no URL has a space."""

_NET_ERROR = re.compile(r"net::ERR_([A-Z0-9_]+)")


def translate_error(exc: PlaywrightError) -> VisitError:
    """Translate an error; its text is Chromium's error name if there is one.

    >>> translate_error(PlaywrightError("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://a.test/"))
    DNSError('net::ERR_NAME_NOT_RESOLVED')
    """
    message = exc.message
    match = _NET_ERROR.search(message)
    if match:
        kind = next((kind for prefix, kind in NET_ERRORS if match[1].startswith(prefix)), NavigationAborted)
        return kind(match[0])
    if isinstance(exc, PlaywrightTimeoutError):
        return VisitTimeout("the time budget ran out")
    first_line = (message.strip() or "unknown").splitlines()[0].removeprefix("Page.goto: ")[:200]
    return PageCrashed(first_line) if _CRASHED.search(first_line) else NavigationAborted(first_line)
