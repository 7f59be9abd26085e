"""The hostile pages and the endings that each may have."""

import dataclasses
from typing import Any

from tests.circles import ALL

OK = ("ok", "quiet", 200)
BUSY = ("ok", "busy", 200)
TIMEOUT = ("timeout", "budget", 200)
UNANSWERED = ("timeout", "budget", None)
BAD = ("bad_response", "failed", None)
CRASH = ("crash", "failed", 200)
OVERRUN = ("crash", "budget", 200)
BUSY_OVERRUN = ("crash", "busy", 200)
"""The page left the browser no time to write the end of its log."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Endings that a page may have: outcome, stop reason and status.

    It has several where the page races with the clock.
    """

    endings: tuple[tuple[Any, ...], ...]
    error: str | None = None
    """Beginning of the error, if it is certain."""
    least_bytes: int = 1
    """Least number of bytes that have arrived, and are kept."""

    @property
    def races(self) -> bool:
        """True if the clock ends the page; pages that end by themselves get more time,
        so that a slow machine changes nothing."""
        return any(reason in ("budget", "busy") for _, reason, _ in self.endings)


def ends(*endings: tuple[Any, ...], error: str | None = None, least_bytes: int = 1) -> Case:
    return Case(endings, error, least_bytes)


CASES: dict[str, Case] = {
    # First, beside all others: it takes the whole of its long budget.
    "filtered.secure": ends(("tls", "failed", None), error="net::ERR_CERT_AUTHORITY_INVALID"),
    # Redirects and navigations
    "redirects": ends(
        ("redirect_loop", "failed", None), error="net::ERR_TOO_MANY_REDIRECTS", least_bytes=1000
    ),
    "slow-redirects": ends(UNANSWERED, least_bytes=60),
    "slow-redirects.secure": ends(UNANSWERED, least_bytes=1500),
    "script-redirects": ends(TIMEOUT, BUSY, least_bytes=300),
    "meta-redirects": ends(BUSY, TIMEOUT, least_bytes=300),
    "locations": ends(TIMEOUT),
    "fragments": ends(OK, BUSY),
    "push-states": ends(OK, BUSY, TIMEOUT),
    "schemes": ends(OK, BUSY, TIMEOUT),
    "chrome-crash": ends(OK),
    "no-content": ends(("aborted", "failed", 204), error="net::ERR_ABORTED"),
    "never-loads": ends(TIMEOUT),
    "sync-request": ends(TIMEOUT),
    "document-write": ends(OK),
    # Bodies and headers
    "endless": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=100_000),
    "endless-script": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=100_000),
    "endless-fetch": ends(BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, CRASH, least_bytes=100_000),
    "endless-interim": ends(UNANSWERED, BAD, ("crash", "budget", None), least_bytes=10_000),
    "gzip-bomb": ends(TIMEOUT, OVERRUN, CRASH, least_bytes=10_000),
    "zstd-bomb.secure": ends(OK, BUSY, TIMEOUT, OVERRUN, CRASH, least_bytes=10_000),
    "brotli-bomb.secure": ends(OK, BUSY, TIMEOUT, OVERRUN, CRASH, least_bytes=1000),
    "no-gzip": ends(("bad_response", "quiet", 200), error="net::ERR_CONTENT_DECODING_FAILED"),
    "slow-header": ends(UNANSWERED, TIMEOUT),  # its status line alone takes 15 s
    "slow-body": ends(TIMEOUT, least_bytes=40),
    "slow-script": ends(TIMEOUT),
    "large-header": ends(OK, least_bytes=248_000),
    "header-too-large": ends(BAD, error="net::ERR_RESPONSE_HEADERS_TOO_BIG", least_bytes=262_144),
    "endless-header": ends(BAD, error="net::ERR_RESPONSE_HEADERS_TOO_BIG", least_bytes=262_144),
    "garbled": ends(OK),
    "garbled-redirect": ends(OK),
    "nuls": ends(OK),
    "no-http": ends(TIMEOUT),
    "wrong-length": ends(TIMEOUT, BAD),
    "two-lengths": ends(
        ("bad_response", "failed", 200), error="net::ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH"
    ),
    # Scripts that keep the processor
    "busy": ends(TIMEOUT),
    "busy-later": ends(OK),
    "busy-worker": ends(OK, BUSY),
    "busy-frame": ends(TIMEOUT),
    "busy-frame-elsewhere": ends(TIMEOUT),
    "promises": ends(TIMEOUT),
    "console": ends(OK, BUSY, TIMEOUT, ("crash", "quiet", 200), BUSY_OVERRUN, OVERRUN),
    "exceptions": ends(OK, BUSY, TIMEOUT, ("crash", "quiet", 200), BUSY_OVERRUN, OVERRUN),
    "print": ends(OK),
    "debugger": ends(OK),
    "regular-expression": ends(TIMEOUT),
    # Memory
    "memory-hog": ends(OK, TIMEOUT, CRASH),
    "heap-hog": ends(TIMEOUT, CRASH),
    "nodes": ends(OK, BUSY, TIMEOUT),
    "deep": ends(OK, BUSY, TIMEOUT, CRASH, least_bytes=300_000),
    "data-url": ends(OK, BUSY, TIMEOUT),
    "long-addresses": ends(OK, BUSY, TIMEOUT, OVERRUN),
    # Frames and windows
    "nested": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "bottomless": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "frames": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "flickering": ends(OK, BUSY, TIMEOUT, OVERRUN),
    "popups": ends(OK, BUSY, TIMEOUT),
    "popups-in-popups": ends(OK, BUSY, TIMEOUT),
    "popup-of-itself": ends(OK),
    "closing": ends(OK, ("aborted", "failed", 200)),
    "closing-later": ends(OK, ("aborted", "failed", 200)),
    "alerts": ends(TIMEOUT),
    "dialogs": ends(OK),
    "before-unload": ends(OK, BUSY, TIMEOUT, ("aborted", "quiet", 200)),  # its document may give itself up
    # Requests
    "requests": ends(OK, BUSY, TIMEOUT, least_bytes=1000),
    "hosts": ends(OK, BUSY, TIMEOUT, least_bytes=250),  # how many answer is up to the clock
    "websocket": ends(OK, BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, least_bytes=100_000),
    "event-source": ends(BUSY, TIMEOUT, OVERRUN, BUSY_OVERRUN, least_bytes=10_000),
    "download": ends(("aborted", "failed", 200), error="Download is starting", least_bytes=100),
    "downloads": ends(OK, BUSY, TIMEOUT),
    "attachments": ends(OK, BUSY, TIMEOUT, least_bytes=10_000),
    "download-later": ends(OK, TIMEOUT, least_bytes=1000),
    "login": ends(("http_error", "quiet", 401)),
    "cookies": ends(OK),
    "permissions.secure": ends(OK),
    "service-worker.secure": ends(OK, least_bytes=1000),
    "wants-certificate.secure": ends(OK, least_bytes=1000),
    "needs-certificate.secure": ends(OK),
}


OFTEN = [
    "before-unload",
    "endless",
    "gzip-bomb",
    "slow-body",
    "header-too-large",
    "garbled",
    "busy",
    "popups",
    "closing",
    "memory-hog",
    "frames",
    "filtered.secure",
]
"""Pages visited in every run of the tests, one of each kind that no other test visits; `scripts/test --all`
visits all, which takes minutes more."""

CHOSEN = [host for host in CASES if host in OFTEN or ALL]
