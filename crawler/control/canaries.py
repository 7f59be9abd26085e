"""
Canaries: well-known endpoints of independent operators, which answer wherever the Internet can be reached.

* CanaryError   FIRSTFLIGHT_CANARIES cannot be read
"""

import dataclasses
from urllib.parse import urlsplit

from crawler.errors import CrawlerError


class CanaryError(CrawlerError):
    """The operator's list of canaries cannot be read."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """An endpoint and its expected answer, which tells it from a captive portal.

    Canaries use http: https would also fail by a wrong clock, without the network being down.
    """

    # Stable: operators name them in FIRSTFLIGHT_CANARIES.
    id: str
    url: str
    status: int | None
    body: str
    source: str


CANARIES = [
    Canary(
        id="google",
        url="http://connectivitycheck.gstatic.com/generate_204",
        status=204,
        body="",
        source="Android: NetworkMonitor, CAPTIVE_PORTAL_HTTP_URL",
    ),
    Canary(
        id="apple",
        url="http://captive.apple.com/hotspot-detect.html",
        status=200,
        body="<HTML><HEAD><TITLE>Success",
        source="Apple: Use Apple products on enterprise networks",
    ),
    Canary(
        id="microsoft",
        url="http://www.msftconnecttest.com/connecttest.txt",
        status=200,
        body="Microsoft Connect Test",
        source="Microsoft: Network Connectivity Status Indicator",
    ),
    Canary(
        id="mozilla",
        url="http://detectportal.firefox.com/success.txt?ipv4",
        status=200,
        body="success",
        source="Firefox: captivedetect.canonicalURL",
    ),
    Canary(
        id="gnome",
        url="http://nmcheck.gnome.org/check_network_status.txt",
        status=200,
        body="NetworkManager is online",
        source="NetworkManager.conf(5), connectivity",
    ),
]
"""Default canaries: the network counts as up if one of them answers, and as down if none does."""


def parse_canaries(text: str | None) -> list[Canary]:
    """Parse a comma-separated list of ids and http URLs; CANARIES for None.

    >>> [canary.id for canary in parse_canaries("apple, http://here.test/")]
    ['apple', 'http://here.test/']
    """
    if text is None:
        return CANARIES
    known = {canary.id: canary for canary in CANARIES}
    return [known.get(word) or parse_canary(word) for word in map(str.strip, text.split(","))]


def parse_canary(url: str) -> Canary:
    try:
        parts = urlsplit(url)
        usable = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise CanaryError(
            f"FIRSTFLIGHT_CANARIES: {url!r} is no canary: name "
            f"{', '.join(canary.id for canary in CANARIES)}, or URLs that begin with http://, "
            "separated by commas"
        )
    return Canary(id=url, url=url, status=None, body="", source="FIRSTFLIGHT_CANARIES")
