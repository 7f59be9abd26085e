"""User-Agent and client hints of the browser: those of plain Chrome on a device, with a contact URL.

The headless shell's own say HeadlessChrome, which sites answer with bot walls.
"""

import dataclasses
import re
from typing import TypedDict

from crawler.browser.devices import DESKTOP, Device
from crawler.errors import CrawlerError

CONTACT_URL = re.compile(r"https?://[!#-'*-:=?-Z_a-z~]{1,200}")
"""URLs that may stand between parentheses in a header."""

GREASE_CHARACTERS = " (:-./);=?_"
GREASE_VERSIONS = ("8", "99", "24")


class ContactUrlError(CrawlerError):
    """The contact URL cannot stand in a User-Agent."""


class UserAgentMetadata(TypedDict):
    """Metadata of `Emulation.setUserAgentOverride` (Chrome DevTools Protocol)."""

    brands: list[dict[str, str]]
    fullVersionList: list[dict[str, str]]
    platform: str
    platformVersion: str
    architecture: str
    bitness: str
    model: str
    mobile: bool
    formFactors: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Guise:
    """User-Agent and client hints of one browser."""

    user_agent: str
    metadata: UserAgentMetadata | None

    @property
    def client_hints(self) -> str | None:
        if self.metadata is None:
            return None
        brands = ", ".join(f'"{brand["brand"]}";v="{brand["version"]}"' for brand in self.metadata["brands"])
        return (
            f"Sec-CH-UA: {brands}\nSec-CH-UA-Mobile: ?{int(self.metadata['mobile'])}\n"
            f'Sec-CH-UA-Platform: "{self.metadata["platform"]}"'
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Appearance:
    """The device, User-Agent and contact URL that a crawl plans for its browsers."""

    device: Device = DESKTOP
    user_agent: str | None = None
    """User-Agent to send; None for that of plain Chrome on the device.

    It goes without client hints, which would contradict it, as Chromium's `--user-agent` does.
    """
    contact_url: str | None = None

    def make_guise(self, version: str) -> Guise:
        named = self.user_agent or _chrome_user_agent(version, self.device)
        if self.contact_url is not None:
            named += f" (+{check_contact(self.contact_url)})"
        return Guise(named, None if self.user_agent else _metadata(version, self.device))


AS_IT_IS = Appearance()


def check_contact(url: str) -> str:
    if not CONTACT_URL.fullmatch(url):
        raise ContactUrlError(
            f"{url!r} cannot stand in a User-Agent: write a plain http or https URL of at most 200 characters"
        )
    return url


def _chrome_user_agent(version: str, device: Device) -> str:
    """Return Chrome's User-Agent, with the major version alone (UA reduction)."""
    mobile = "Mobile " if device.is_mobile else ""
    return (
        f"Mozilla/5.0 ({device.system}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{_major(version)}.0.0.0 {mobile}Safari/537.36"
    )


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def brands(version: str) -> list[dict[str, str]]:
    """Return Chromium's brands, of which a noise brand depends on the version (UA-CH, Chromium's GREASE).

    >>> [brand["brand"] for brand in brands("156.0.8078.79")]
    ['Not:A-Brand', 'Chromium']
    """
    major = _major(version)
    first, second = (GREASE_CHARACTERS[(major + n) % len(GREASE_CHARACTERS)] for n in (0, 1))
    noise = {"brand": f"Not{first}A{second}Brand", "version": GREASE_VERSIONS[major % len(GREASE_VERSIONS)]}
    own = {"brand": "Chromium", "version": str(major)}
    return [own, noise] if major % 2 else [noise, own]


def _metadata(version: str, device: Device) -> UserAgentMetadata:
    short = brands(version)
    whole = [
        {**brand, "version": version if brand["brand"] == "Chromium" else f"{brand['version']}.0.0.0"}
        for brand in short
    ]
    return {
        "brands": short,
        "fullVersionList": whole,
        "platform": device.platform,
        "platformVersion": device.platform_version,
        "architecture": device.architecture,
        "bitness": device.bitness,
        "model": device.model,
        "mobile": device.is_mobile,
        "formFactors": ["Mobile" if device.is_mobile else "Desktop"],
    }
