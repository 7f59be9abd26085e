"""Stable names that releases contain: outcomes, reasons for unknown sizes, bot walls,
consent platforms, coverage. `vocabulary.toml` defines them.

Every release stores these names: a rename would break past data.
"""

import tomllib
from pathlib import Path
from typing import Any

from schema.http_caching import LIFETIMES

_DECLARED: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

VALUE_LABELS: dict[str, dict[str, str]] = _DECLARED.pop("labels")
"""What values of a column are called where people read them, by the column's name."""

WORDS: dict[str, dict[str, str]] = _DECLARED
"""Words with their definitions, by the vocabulary that they are of."""

OUTCOMES = WORDS["outcomes"]

RETRIED = frozenset(
    {
        *("timeout", "dns", "connect", "tls", "bad_response", "aborted"),
        *("network_changed", "network_down", "crash"),
    }
)
"""Outcomes after which a site is visited again while it has attempts left."""

ANSWERED = frozenset({"ok", "http_error"})
"""Outcomes of sites whose main document arrived."""

NETWORK_DOWN = "network_down"

DISPUTED = " (another resolver knows the name)"
"""End of visit.error where the outcome is `dns` although another resolver than ours has an address for the
name."""

UNCONFIRMED = " (no other resolver told)"
"""End of visit.error where the outcome is `dns` and no other resolver than ours told whether the name
exists."""

OUR_FAULT = frozenset({"crash", "network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine, rather than the site, may have caused."""

NEVER_FINAL = frozenset({"network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine certainly caused: they do not count as attempts."""

WIRE_BYTES_UNKNOWN = WORDS["wire_bytes_unknown"]
"""Values of response.wire_bytes_unknown."""

COUNTED, STATED, DERIVED, SELECTED = "counted", "stated", "derived", "selected"

SIZE_BASES = WORDS["size_bases"]
"""Values of response.size_basis."""

IN_PART = (DERIVED, SELECTED)
"""Bases of sizes that stand apart from all others: measures of all responses leave them out."""

INITIAL_WINDOW_UNKNOWN = WORDS["initial_window_unknown"]
"""Values of connection.initial_window_unknown."""

WALLS = WORDS["walls"]
"""Values of visit.wall: bot walls that answer instead of the page."""

CONSENTS = WORDS["consents"]
"""Values of visit.consent: consent platforms that the page loaded, whether or not they showed a banner."""

COVERAGE_FLOOR = 0.99
"""Minimum share of received and of decrypted bytes that must be accounted for;
below it `visit.is_covered` is false."""


def is_covered(*shares: float | None) -> bool | None:
    """Return true if every known share is at least COVERAGE_FLOOR.

    None if no share is known, because nothing was received.

    >>> is_covered(1.0, 0.98), is_covered(0.99, None), is_covered(None, None)
    (False, True, None)
    """
    known = [share for share in shares if share is not None]
    return min(known) >= COVERAGE_FLOOR if known else None


RESOURCE_TYPES_BY_DESTINATION = {
    "": "fetch",
    "empty": "fetch",
    "audio": "media",
    "video": "media",
    "track": "media",
    "worker": "worker",
    "sharedworker": "worker",
    "serviceworker": "worker",
    "frame": "iframe",
} | {
    name: name
    for name in (
        *("document", "iframe", "style", "script", "image", "font", "manifest"),
        *("object", "embed", "report", "xslt", "websocket"),
    )
}
"""resource_type by Sec-Fetch-Dest (Fetch Metadata Request Headers §2.1); `other` for all other values."""

RESOURCE_TYPES_BY_DEVTOOLS = {
    "stylesheet": "style",
    "image": "image",
    "media": "media",
    "font": "font",
    "script": "script",
    "texttrack": "media",
    "xhr": "fetch",
    "fetch": "fetch",
    "prefetch": "fetch",
    "eventsource": "fetch",
    "ping": "fetch",
    "cspviolationreport": "report",
    "csp-violation-report": "report",
    "websocket": "websocket",
    "manifest": "manifest",
    "preflight": "preflight",
}
"""resource_type by the resource type of Chrome's DevTools in lower case, but for documents, where the frame
decides; `other` for all other values."""

RESOURCE_TYPES = (*sorted(set(RESOURCE_TYPES_BY_DESTINATION.values())), "preflight", "other")
"""Values of response.resource_type."""

CLOSED: dict[str, tuple[str, ...]] = {
    "outcome": tuple(OUTCOMES),
    "stop_reason": ("quiet", "busy", "budget", "failed", "load"),
    "page_kind": ("home", "inner"),
    "wall": tuple(WALLS),
    "consent": tuple(CONSENTS),
    "protocol": ("http/1.1", "h2", "h3"),
    "resource_type": RESOURCE_TYPES,
    "wire_bytes_unknown": tuple(WIRE_BYTES_UNKNOWN),
    "size_basis": tuple(SIZE_BASES),
    "initial_window_unknown": tuple(INITIAL_WINDOW_UNKNOWN),
    "lifetime_by": tuple(LIFETIMES),
}
"""All values that a column of the observation tables may have, by the column's name;
other columns take any value."""
assert all(labels.keys() == set(CLOSED[column]) for column, labels in VALUE_LABELS.items())

METHOD_BREAKS: dict[str, tuple[str, ...]] = {
    "3": (
        "A page is quiet only once the browser has had nothing to do for half a second: pages that "
        "compute for longer between two requests, and all on a busy machine, are recorded further.",
    ),
}
"""Breaks of the measuring method, which every series over months shows, by the version that brought them: the
rows of docs/data-changelog.md marked as breaks."""
