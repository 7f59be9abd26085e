"""Device profiles that a crawl's browser emulates: screen, touch and platform, as data."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """One device profile."""

    # Stable: written into every crawl's name, so a rename breaks past data.
    id: str
    width: int
    height: int
    device_scale_factor: float
    """Device pixels per CSS pixel, which decides the image of a `srcset`."""
    is_mobile: bool
    """True for mobile emulation: the viewport meta tag is obeyed, `Sec-CH-UA-Mobile` is ?1,
    and the User-Agent says Mobile."""
    has_touch: bool
    system: str
    """System in the User-Agent, a constant in Chrome since UA reduction."""
    platform: str
    platform_version: str
    architecture: str
    bitness: str
    model: str
    source: str

    def context(self) -> dict[str, Any]:
        return {
            "viewport": {"width": self.width, "height": self.height},
            "screen": {"width": self.width, "height": self.height},
            "device_scale_factor": self.device_scale_factor,
            "is_mobile": self.is_mobile,
            "has_touch": self.has_touch,
        }


DESKTOP = Device(
    id="desktop",
    width=1280,
    height=720,
    device_scale_factor=1,
    is_mobile=False,
    has_touch=False,
    system="X11; Linux x86_64",
    platform="Linux",
    platform_version="",
    architecture="x86",
    bitness="64",
    model="",
    source="Playwright's descriptor `Desktop Chrome`, on Linux, which the browser runs on",
)

MOBILE = Device(
    id="mobile",
    width=412,
    height=823,
    device_scale_factor=1.75,
    is_mobile=True,
    has_touch=True,
    system="Linux; Android 10; K",
    platform="Android",
    platform_version="11.0.0",
    architecture="",
    bitness="",
    model="moto g power (2022)",
    source="Lighthouse's mobile emulation, a Moto G Power (core/config/constants.js): "
    "HTTP Archive's mobile pages are of the same line of telephones",
)

DEVICES = {device.id: device for device in (DESKTOP, MOBILE)}
