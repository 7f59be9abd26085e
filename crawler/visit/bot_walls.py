"""Fingerprints of bot walls and consent platforms. They flag a visit; the crawler never acts on them.

A fingerprint matches the main document's status and headers, and the page's requests. An unknown wall shows
only as a status of 4xx or 5xx.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

REFUSALS = frozenset({403, 405, 429, 503})
"""Statuses of walls; the same scripts run unseen on pages that are let through."""


@dataclasses.dataclass(frozen=True, slots=True)
class HeaderMark:
    """Mark: a header of the main document that begins with `value`."""

    name: str
    value: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class RequestMark:
    """Mark: a request of the page to `host` or a subdomain (any host, if empty),
    with a path that begins with `path`."""

    host: str
    path: str = "/"

    def is_met(self, host: str, path: str) -> bool:
        return (not self.host or f".{host}".endswith(f".{self.host}")) and path.startswith(self.path)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fingerprint:
    """A bot wall or consent platform, recognised by any of its marks."""

    # Stable: in schema.vocabulary, and written into every release.
    id: str
    alone: tuple[HeaderMark | RequestMark, ...] = ()
    refused: tuple[HeaderMark | RequestMark, ...] = ()
    source: str


WALLS = (
    Fingerprint(
        id="cloudflare",
        alone=(HeaderMark("cf-mitigated", "challenge"),),
        refused=(RequestMark("", "/cdn-cgi/challenge-platform/"), RequestMark("challenges.cloudflare.com")),
        source="Cloudflare, Detect a Challenge Page response; the script of its challenge pages",
    ),
    Fingerprint(
        id="aws-waf",
        alone=(HeaderMark("x-amzn-waf-action", "challenge"), HeaderMark("x-amzn-waf-action", "captcha")),
        source="AWS WAF API reference, ChallengeAction (with status 202) and CaptchaAction (405)",
    ),
    Fingerprint(
        id="vercel",
        alone=(HeaderMark("x-vercel-mitigated", "challenge"),),
        source="the header of Vercel's firewall",
    ),
    Fingerprint(
        id="datadome",
        refused=(HeaderMark("x-datadome"), RequestMark("captcha-delivery.com")),
        source="DataDome's header and the host of its challenge",
    ),
    Fingerprint(
        id="perimeterx",
        refused=(RequestMark("px-cdn.net"), RequestMark("px-cloud.net"), RequestMark("perimeterx.net")),
        source="the hosts of HUMAN's challenge",
    ),
    Fingerprint(
        id="imperva",
        refused=(RequestMark("", "/_Incapsula_Resource"),),
        source="the path of Imperva's challenge",
    ),
    Fingerprint(
        id="akamai",
        refused=(HeaderMark("server", "AkamaiGHost"),),
        source="the name of Akamai's edge server, which answers so when no origin did",
    ),
    Fingerprint(
        id="hcaptcha",
        refused=(RequestMark("hcaptcha.com"),),
        source="hCaptcha's developer guide: the host of its script",
    ),
    Fingerprint(
        id="recaptcha",
        refused=(
            RequestMark("www.google.com", "/recaptcha/"),
            RequestMark("www.recaptcha.net", "/recaptcha/"),
        ),
        source="reCAPTCHA's developer guide: hosts and path of its script",
    ),
)


def _platform(name: str, *hosts: str) -> Fingerprint:
    return Fingerprint(
        id=name, alone=tuple(map(RequestMark, hosts)), source="the hosts in the platform's script tag"
    )


CONSENTS = (
    _platform("onetrust", "cookielaw.org", "onetrust.com"),
    _platform("cookiebot", "cookiebot.com", "cookiebot.eu"),
    _platform("sourcepoint", "privacy-mgmt.com"),
    _platform("quantcast", "cmp.quantcast.com", "quantcast.mgr.consensu.org", "cmp.inmobi.com"),
    _platform("didomi", "privacy-center.org", "didomi.io"),
    _platform("usercentrics", "usercentrics.eu"),
    _platform("trustarc", "consent.trustarc.com", "consent.truste.com"),
)


def recognise(
    fingerprints: Sequence[Fingerprint],
    status: int | None,
    headers: Mapping[str, str],
    asked: Collection[tuple[str, str]],
) -> str | None:
    """Return the first fingerprint that matches, given hosts and paths of the page's requests."""
    return next(
        (fingerprint.id for fingerprint in fingerprints if _matches(fingerprint, status, headers, asked)),
        None,
    )


def _matches(
    fingerprint: Fingerprint,
    status: int | None,
    headers: Mapping[str, str],
    asked: Collection[tuple[str, str]],
) -> bool:
    marks = fingerprint.alone + (fingerprint.refused if status in REFUSALS else ())
    return any(
        mark.name in headers and headers[mark.name].startswith(mark.value)
        if isinstance(mark, HeaderMark)
        else any(mark.is_met(host, path) for host, path in asked)
        for mark in marks
    )
