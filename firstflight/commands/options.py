"""Types of values, options and output that commands share."""

import json
import re
import unicodedata
from collections.abc import Iterable

import click

from storage.year import SERIES

MOST_CHARACTERS = 1000


class Pattern(click.ParamType[str]):
    """Text that a regular expression matches whole; what else is given gets the hint."""

    def __init__(self, name: str, pattern: str, hint: str) -> None:
        self.name = name
        self._pattern = re.compile(pattern, re.ASCII)
        self._hint = hint

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if self._pattern.fullmatch(value) else self.fail(f"{value!r}: {self._hint}", param, ctx)


class Statement(click.ParamType[str]):
    """A statement that readers are shown: one line without invisible characters."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        line = value.strip()
        if not line or len(line) > MOST_CHARACTERS or any(unicodedata.category(c)[0] == "C" for c in line):
            self.fail(f"write one line of 1 to {MOST_CHARACTERS} characters", param, ctx)
        return line


MONTH = Pattern("YYYY-MM", r"[0-9]{4}-(0[1-9]|1[0-2])", "write a month as 2026-11")
SERIES_NAME = Pattern(
    "text", r"[a-z0-9-]+(\.[a-z0-9-]+){3}", f"write a crawl's name without its month: {SERIES}"
)
DAY = click.DateTime(["%Y-%m-%d"])
YEAR = click.IntRange(2000, 9999)
VERSION = click.IntRange(1, 9999)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
CRAWL = click.option(
    "--crawl", "name", required=True, help="Name of the crawl, or a unique beginning of it, such as 2026-11."
)
OFFLINE = click.option(
    "--offline", is_flag=True, help="Leave PostgreSQL out: only what the files say themselves."
)
OF_YEAR = click.option("--year", type=YEAR, required=True, help="Year of the report.")
NEXT_VERSION = click.option(
    "--version",
    type=VERSION,
    help="Version to make; a higher one if the release must change.  [default: the newest version, or 1]",
)
REASON = click.option(
    "--reason", type=Statement(), help="Why a later version is made; needed from version 2 on."
)


def show(facts: object, *, as_json: bool, lines: Iterable[str]) -> None:
    """Print facts as JSON, or as lines."""
    click.echo(json.dumps(facts, indent=2, default=str) if as_json else "\n".join(lines))
