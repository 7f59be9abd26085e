"""The name of a crawl: the same on the command line, in the API and in the path of a release."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from schema.tables import Crawl


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CrawlName:
    """What is unique about a crawl; also the release's path."""

    month: str
    device: str = "desktop"
    vantage: str = "local"
    arm: str = "tcp"
    kind: str = "web"

    def __str__(self) -> str:
        """As the command line and the API write it: 2026-11.desktop.local.tcp.web."""
        return ".".join(dataclasses.astuple(self))

    def path(self, root: Path, *, version: int) -> Path:
        """Folder of one version of the release below the folder of releases."""
        parts = [f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self)]
        return root.joinpath(*parts, f"version={version}")


def name_of(crawl: Crawl) -> CrawlName:
    """The name of a crawl's row."""
    return CrawlName(**{field.name: getattr(crawl, field.name) for field in dataclasses.fields(CrawlName)})
