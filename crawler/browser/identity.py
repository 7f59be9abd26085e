"""The identity of a crawl's browser: product, build time,
and the flags and headers that change what is measured."""

import asyncio
import dataclasses
import datetime
import os
import re
from collections.abc import Sequence
from pathlib import Path

from crawler.browser.user_agent import Guise
from crawler.errors import BrowserMissing

PACKAGE = "chromium-headless-shell"

VERSION = re.compile(r"\d+\.\d+\.\d+\.\d+")
VERSION_WITHIN_S = 30.0

FLAG_LIMIT = 500


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """The facts that a crawl records about its browser."""

    product: str
    """Product and build, e.g. `Chromium 156.0.8078.79 (headless shell)`."""
    built_on: datetime.datetime | None
    """The binary's modification time, which packages keep; None if unknown."""
    user_agent: str
    flags: tuple[str, ...]
    """Flags that change what is measured."""
    client_hints: str | None = None
    """Headers that the browser sends unasked, a line each."""


def check_executable(chromium: Path) -> None:
    if not os.access(chromium, os.X_OK):
        raise BrowserMissing(f"no browser at {chromium}: install the Debian package {PACKAGE}")


async def ask_version(chromium: Path) -> str:
    """Ask the program for its version, before its start: the User-Agent depends on it."""
    async with asyncio.timeout(VERSION_WITHIN_S):
        process = await asyncio.create_subprocess_exec(
            chromium, "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        output, _ = await process.communicate()
    match = VERSION.search(output.decode("utf-8", "replace"))
    if match is None:
        raise OSError("it does not tell its version")
    return match[0]


def identify(chromium: Path, version: str, flags: Sequence[str], guise: Guise) -> Identity:
    built = datetime.datetime.fromtimestamp(chromium.stat().st_mtime, tz=datetime.UTC)
    return Identity(
        product=f"Chromium {version} (headless shell)",
        built_on=built.replace(microsecond=0),
        user_agent=guise.user_agent,
        flags=tuple(flag[:FLAG_LIMIT] for flag in flags),
        client_hints=guise.client_hints,
    )
