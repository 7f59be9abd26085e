"""Chromium's headless shell, with its NetLog streaming into this process."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from playwright.async_api import Playwright


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What a crawl records about its browser."""

    product: str
    """Product and build, e.g. `Chromium 156.0.8078.79`."""
    built_on: datetime.datetime | None
    """When it was built; None if nothing says so."""
    user_agent: str
    flags: tuple[str, ...]
    """Its flags that change what is measured."""


class Browser:
    """One browser process; it holds one page at a time, so a slice of its log is a visit."""

    identity: Identity

    @classmethod
    @contextlib.asynccontextmanager
    async def launch(
        cls, chromium: Path, *, flags: Sequence[str] = (), playwright: Playwright | None = None
    ) -> AsyncIterator[Browser]:
        """Start Chromium; BrowserMissing if that cannot be.

        Browsers that share `playwright` share its driver process (128 MB).
        """
        raise NotImplementedError
        yield cls()
