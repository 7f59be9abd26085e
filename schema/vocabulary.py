"""Stable names that releases contain: outcomes, reasons for unknown sizes, bot walls,
consent platforms, coverage.

Every release stores these names: a rename would break past data.
"""

from schema.http_caching import LIFETIMES

OUTCOMES: dict[str, str] = {
    "ok": "the main document arrived with a status below 400 and the page was recorded until it was "
    "quiet, or until ten seconds after its load event",
    "http_error": "the main document arrived with a status of 400 or more",
    "timeout": "the time budget ran out; what had arrived is kept",
    "dns": "the host name did not resolve",
    "connect": "no TCP connection could be made, or it was reset before a response arrived",
    "tls": "the TLS handshake failed",
    "redirect_loop": "the browser gave up following redirects",
    "bad_response": "the server sent something other than an HTTP response, closed the connection "
    "without sending anything, or broke off the main document",
    "blocked": "the address guard refused the address of the site: it is not on the public internet",
    "aborted": "the browser abandoned the navigation, or the main document half-way, for another reason, "
    "e.g. a download or the page's own script",
    "network_changed": "the crawling machine's own network changed and the browser dropped requests",
    "network_down": "the crawler's own network or address guard was down during the visit, or not yet "
    "known to be up again: the visit says nothing about its site, "
    "is never final and does not count as an attempt",
    "crash": "the browser or the page's renderer died",
}

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

OUR_FAULT = frozenset({"crash", "network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine, rather than the site, may have caused."""

NEVER_FINAL = frozenset({"network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine certainly caused: they do not count as attempts."""

WIRE_BYTES_UNKNOWN: dict[str, str] = {
    "no_response": "no byte of a response arrived: the request failed, was never sent, or time ran out",
    "from_cache": "the browser's own cache answered: nothing crossed the network",
    "unseen": "a response arrived, but the browser's log does not say on which connection",
    "not_recorded": "a response arrived, but somebody else's recording does not hold its size",
    "contradictory": "a response arrived, but the numbers of its size in somebody else's "
    "recording contradict one another",
}
"""Values of response.wire_bytes_unknown."""

COUNTED, STATED, DERIVED, SELECTED = "counted", "stated", "derived", "selected"

SIZE_BASES: dict[str, str] = {
    COUNTED: "counted as it came: by this project's crawler, "
    "or by a recorder that counts header and body together",
    STATED: "header and body as somebody else's recorder states them, each for itself",
    DERIVED: "computed in part from Content-Length or from the text of the header, "
    "which somebody else's recorder shows",
    SELECTED: "counted or derived, in somebody else's recording that holds the sizes "
    "of some types of responses alone, such as images",
}
"""Values of response.size_basis."""

IN_PART = (DERIVED, SELECTED)
"""Bases of sizes that stand apart from all others: measures of all responses leave them out."""

INITIAL_WINDOW_UNKNOWN: dict[str, str] = {
    "not_captured": "the connection's packets were not captured, or not all",
    "quic": "a QUIC connection, whose acknowledgments are encrypted",
    "no_handshake": "the first packets were not captured",
    "no_response": "no response arrived to the first request",
    "response_ended": "a lower bound alone: the server sent nothing more after the flight",
    "sender_paused": "a lower bound alone: the server paused by itself, or for the next request, or its "
    "last segment was short, after which it may have paused",
    "flights_merged": "a lower bound alone: there was no pause between the flight and the next, as on a "
    "slow link, or none longer than those of a sender that paces",
    "receive_window": "a lower bound alone: the browser's receive window had no room for another segment",
    "loss": "a lower bound alone: packets were lost, came twice or may have been sent again after a "
    "silence, which changes the window",
    "segment_size": "a lower bound alone: no segment shows the size of a full one",
    "small_segments": "two bounds: some segments were not full, "
    "and nothing shows whether the window counts segments or bytes",
    "growth": "two bounds: acknowledgments of the TLS flight and of tickets may have let the window grow "
    "before the response, or while it was sent",
    "held_back": "two bounds: an acknowledgment was nearly due, "
    "and then Linux may hold back up to a third of its window",
}
"""Values of connection.initial_window_unknown."""

WALLS: dict[str, str] = {
    "cloudflare": "a challenge page of Cloudflare",
    "aws-waf": "a challenge or CAPTCHA of AWS WAF",
    "vercel": "a challenge of Vercel's firewall",
    "datadome": "a challenge or block page of DataDome",
    "perimeterx": "a challenge of HUMAN (PerimeterX)",
    "imperva": "a challenge of Imperva (Incapsula)",
    "akamai": "a refusal by Akamai's edge server itself",
    "hcaptcha": "a refusal with an hCaptcha challenge",
    "recaptcha": "a refusal with a reCAPTCHA challenge",
}
"""Values of visit.wall: bot walls that answer instead of the page."""

CONSENTS: dict[str, str] = {
    "onetrust": "OneTrust",
    "cookiebot": "Cookiebot",
    "sourcepoint": "Sourcepoint",
    "quantcast": "Quantcast Choice, now InMobi Choice",
    "didomi": "Didomi",
    "usercentrics": "Usercentrics",
    "trustarc": "TrustArc",
}
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
