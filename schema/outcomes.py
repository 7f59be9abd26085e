"""How a visit can end: stable names, written into every release, so a rename breaks past data."""

from __future__ import annotations

OUTCOMES: dict[str, str] = {
    "ok": "the main document arrived with a status below 400 and the page was recorded until it was quiet, or until ten seconds after its load event",
    "http_error": "the main document arrived with a status of 400 or more",
    "timeout": "the time budget ran out; what had arrived is kept",
    "dns": "the host name did not resolve",
    "connect": "no TCP connection could be made, or it was reset before an answer",
    "tls": "the TLS handshake failed",
    "redirect_loop": "the browser gave up following redirects",
    "bad_response": "something arrived that is no HTTP response, nothing did before the connection closed, or the main document broke off",
    "blocked": "the address guard refused the address of the site: it is not on the public internet",
    "aborted": "the browser gave up the navigation, or the main document half-way, for another reason, e.g. a download or the page's own script",
    "network_changed": "the crawling machine's own network changed and the browser dropped requests",
    "network_down": "the crawler's own network or address guard was down during the visit or before anybody knew better: the visit says nothing of its site, is never final and counts for none of its attempts",
    "crash": "the browser or the page's renderer died",
}

RETRIED = frozenset(
    {
        *("timeout", "dns", "connect", "tls", "bad_response", "aborted"),
        *("network_changed", "network_down", "crash"),
    }
)
"""Outcomes after which a site is visited again, while attempts are left."""

ANSWERED = frozenset({"ok", "http_error"})
"""Outcomes of sites whose main document arrived."""

NETWORK_DOWN = "network_down"

OUR_FAULT = frozenset({"crash", "network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine may have caused, and not the site."""

NEVER_FINAL = frozenset({"network_changed", NETWORK_DOWN})
"""Outcomes that the crawling machine has caused for certain: they count for none of a site's attempts."""
