"""Stable names that releases contain: outcomes, reasons for unknown sizes, bot walls, consent platforms, coverage.

Every release stores these names, so renaming one breaks past data.
"""

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

WIRE_BYTES_UNKNOWN: dict[str, str] = {
    "no_response": "not one byte of a response arrived: the request failed, was never sent, or time ran out",
    "from_cache": "the browser's own cache answered: nothing crossed the network",
    "unseen": "a response arrived, but the browser's log does not say on which connection",
}
"""Values of response.wire_bytes_unknown."""

WALLS: dict[str, str] = {
    "cloudflare": "a challenge page of Cloudflare",
    "aws-waf": "a challenge or CAPTCHA of AWS WAF",
    "vercel": "a challenge of Vercel's firewall",
    "datadome": "a challenge or block of DataDome",
    "perimeterx": "a challenge of HUMAN (PerimeterX)",
    "imperva": "a challenge of Imperva (Incapsula)",
    "akamai": "a refusal by Akamai's edge server itself",
    "hcaptcha": "a refusal with hCaptcha on it",
    "recaptcha": "a refusal with reCAPTCHA on it",
}
"""Values of visit.wall: bot walls that answer in place of the page."""

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
"""Share of the bytes, received and decrypted, below which a visit is flagged: `visit.is_covered` is false."""


def is_covered(*shares: float | None) -> bool | None:
    """Whether every known share is at least the floor; None if none is known: nothing was received.

    >>> is_covered(1.0, 0.98), is_covered(0.99, None), is_covered(None, None)
    (False, True, None)
    """
    known = [share for share in shares if share is not None]
    return min(known) >= COVERAGE_FLOOR if known else None
