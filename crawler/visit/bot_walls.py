"""Rules by which bot walls and consent platforms are recognised. They flag a visit; nothing is ever done about them.

A rule looks at the main document's status and header and at what the page asked for. It names the wall that
it knows: one that it does not know is a status of 4xx or 5xx and no more.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

REFUSALS = frozenset({403, 405, 429, 503})
"""Statuses with which walls answer. The same scripts run unseen on pages that are let through."""


@dataclasses.dataclass(frozen=True, slots=True)
class Header:
    """A header of the main document that begins with `value`."""

    name: str
    value: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """A request of the page: to `host` or one below it (any, where empty), its path beginning with `path`."""

    host: str
    path: str = "/"

    def is_met(self, host: str, path: str) -> bool:
        """Whether a request is such a one."""
        return (not self.host or f".{host}".endswith(f".{self.host}")) and path.startswith(self.path)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One thing that is recognised by any of its marks."""

    # Stable: in schema.vocabulary, and written into every release.
    id: str
    alone: tuple[Header | Asked, ...] = ()
    """Marks that say enough."""
    refused: tuple[Header | Asked, ...] = ()
    """Marks that count where the main document's status is one of REFUSALS."""
    source: str


WALLS = (
    Rule(
        id="cloudflare",
        alone=(Header("cf-mitigated", "challenge"),),
        refused=(Asked("", "/cdn-cgi/challenge-platform/"), Asked("challenges.cloudflare.com")),
        source="Cloudflare, Detect a Challenge Page response; the script of its challenge pages",
    ),
    Rule(
        id="aws-waf",
        alone=(Header("x-amzn-waf-action", "challenge"), Header("x-amzn-waf-action", "captcha")),
        source="AWS WAF API reference, ChallengeAction (with status 202) and CaptchaAction (405)",
    ),
    Rule(
        id="vercel",
        alone=(Header("x-vercel-mitigated", "challenge"),),
        source="the header of Vercel's firewall",
    ),
    Rule(
        id="datadome",
        refused=(Header("x-datadome"), Asked("captcha-delivery.com")),
        source="DataDome's header and the host of its challenge",
    ),
    Rule(
        id="perimeterx",
        refused=(Asked("px-cdn.net"), Asked("px-cloud.net"), Asked("perimeterx.net")),
        source="the hosts of HUMAN's challenge",
    ),
    Rule(
        id="imperva",
        refused=(Asked("", "/_Incapsula_Resource"),),
        source="the path of Imperva's challenge",
    ),
    Rule(
        id="akamai",
        refused=(Header("server", "AkamaiGHost"),),
        source="the name of Akamai's edge server, which answers so when no origin did",
    ),
    Rule(
        id="hcaptcha",
        refused=(Asked("hcaptcha.com"),),
        source="hCaptcha's developer guide: the host of its script",
    ),
    Rule(
        id="recaptcha",
        refused=(Asked("www.google.com", "/recaptcha/"), Asked("www.recaptcha.net", "/recaptcha/")),
        source="reCAPTCHA's developer guide: hosts and path of its script",
    ),
)
"""Bot walls; the first that fits names it."""


def _platform(name: str, *hosts: str) -> Rule:
    """A consent platform, by the hosts that it is loaded from."""
    return Rule(id=name, alone=tuple(map(Asked, hosts)), source="the hosts in the platform's script tag")


CONSENTS = (
    _platform("onetrust", "cookielaw.org", "onetrust.com"),
    _platform("cookiebot", "cookiebot.com", "cookiebot.eu"),
    _platform("sourcepoint", "privacy-mgmt.com"),
    _platform("quantcast", "cmp.quantcast.com", "quantcast.mgr.consensu.org", "cmp.inmobi.com"),
    _platform("didomi", "privacy-center.org", "didomi.io"),
    _platform("usercentrics", "usercentrics.eu"),
    _platform("trustarc", "consent.trustarc.com", "consent.truste.com"),
)
"""Consent platforms; the first that fits names it."""

HEADERS = frozenset(
    mark.name for rule in WALLS for mark in rule.alone + rule.refused if isinstance(mark, Header)
)
"""Headers of responses that the rules look at."""


def recognised(
    rules: Sequence[Rule], status: int | None, headers: Mapping[str, str], asked: Collection[tuple[str, str]]
) -> str | None:
    """The first rule that fits a page: its main document's status and headers, hosts and paths that it asked for."""
    return next((rule.id for rule in rules if _fits(rule, status, headers, asked)), None)


def _fits(
    rule: Rule, status: int | None, headers: Mapping[str, str], asked: Collection[tuple[str, str]]
) -> bool:
    marks = rule.alone + (rule.refused if status in REFUSALS else ())
    return any(
        mark.name in headers and headers[mark.name].startswith(mark.value)
        if isinstance(mark, Header)
        else any(mark.is_met(host, path) for host, path in asked)
        for mark in marks
    )
