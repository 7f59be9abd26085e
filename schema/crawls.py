"""Names of crawls, which the command line, the API and the paths of releases share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schema.tables import Crawl  # with SQLAlchemy, which readers of releases do without


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CrawlName:
    """The parts that identify a crawl; they also form the path of its releases.

    The defaults are the variant that a short name means: `2026-11` is `2026-11.desktop.local.tcp.web`.
    """

    month: str
    device: str = "desktop"
    vantage: str = "local"
    arm: str = "tcp"
    kind: str = "web"

    def __str__(self) -> str:
        return f"{self.month}.{self.device}.{self.vantage}.{self.arm}.{self.kind}"

    @classmethod
    def from_text(cls, name: str) -> CrawlName:
        """Return the crawl that a name means; parts that it leaves out are those of the default variant.

        What it means depends on nothing but the name, so that a later crawl cannot change it. ValueError if a
        part is empty or there are too many.

        >>> str(CrawlName.from_text("2026-11.mobile"))
        '2026-11.mobile.local.tcp.web'
        """
        parts = name.split(".")
        names = [field.name for field in dataclasses.fields(cls)]
        if not all(parts) or len(parts) > len(names):
            raise ValueError(f"{name!r} is no name of a crawl: write {'.'.join(names)}, or its first parts")
        return cls(**dict(zip(names, parts, strict=False)))

    def is_named(self, name: str) -> bool:
        """Return true if `name` is the whole name or its first parts."""
        return f"{self}.".startswith(f"{name}.")

    @property
    def other_parts(self) -> int:
        """Number of parts that are not the defaults.

        >>> CrawlName.from_text("2026-11.mobile").other_parts
        1
        """
        default = dataclasses.astuple(CrawlName(month=self.month))
        return sum(part != usual for part, usual in zip(dataclasses.astuple(self), default, strict=True))

    @property
    def year_before(self) -> CrawlName:
        """The crawl of the same month a year before, alike in all else.

        >>> str(CrawlName(month="2026-11", device="mobile").year_before)
        '2025-11.mobile.local.tcp.web'
        """
        return dataclasses.replace(self, month=f"{int(self.month[:4]) - 1:04}{self.month[4:]}")

    def path(self, root: Path, *, version: int) -> Path:
        parts = [f"{field.name}={getattr(self, field.name)}" for field in dataclasses.fields(self)]
        return root.joinpath(*parts, f"version={version}")


def name_of(crawl: Crawl) -> CrawlName:
    return CrawlName(**{field.name: getattr(crawl, field.name) for field in dataclasses.fields(CrawlName)})
