"""Points of outside series: a tidy CSV file with a row for each series, date, client and scope."""

import csv
import dataclasses
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from releases.outside.series import KINDS, STATISTICS, Statistic

BUNDLED = Path(__file__).with_name("httparchive.csv")

KEY = ("series", "date", "client", "scope")

CLIENTS = frozenset({"desktop", "mobile", "both"})
SCOPES = frozenset({"home", "inner", "home+inner", "all"})

DATE = re.compile(r"20\d\d-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?")

MOST = 1e12
"""Largest plausible value; a larger one is refused."""


class OutsideError(Exception):
    """A file holds no points of an outside series."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """The statistics of one series on one date."""

    series: str
    date: str
    """YYYY-MM-DD, or YYYY-MM where the publisher states no day."""
    client: str
    scope: str
    values: Mapping[Statistic, float]
    """An unknown statistic is missing."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.series, self.client, self.scope, self.date

    def __post_init__(self) -> None:
        """Raise OutsideError for an unknown series, or values that cannot be true."""
        known = self.series in KINDS and self.client in CLIENTS and self.scope in SCOPES
        if not known or not DATE.fullmatch(self.date):
            raise OutsideError(f"no point of a known series: {', '.join(self.key)[:100]}")
        if not self.values or not all(
            0 <= value <= MOST and math.isfinite(value) for value in self.values.values()
        ):
            raise OutsideError(f"no values, or absurd ones: {', '.join(self.key)}")
        ordered = [value for name, value in self.values.items() if name != "share"]
        if ordered != sorted(ordered) or self.values.get("share", 0) > 1:
            raise OutsideError(f"quantiles that fall, or a share over 1: {', '.join(self.key)}")


def to_text(points: Iterable[Point]) -> str:
    """Return points as CSV, in the order of their keys."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*KEY, *STATISTICS])
    for point in sorted(points, key=lambda point: point.key):
        values = ["" if name not in point.values else f"{point.values[name]:.12g}" for name in STATISTICS]
        writer.writerow([point.series, point.date, point.client, point.scope, *values])
    return text.getvalue()


def from_text(text: str) -> list[Point]:
    """Return what `to_text` wrote; OutsideError."""
    try:
        return [
            Point(
                **{name: row[name] for name in KEY},
                values={name: float(row[name]) for name in STATISTICS if row[name]},
            )
            for row in csv.DictReader(io.StringIO(text))
        ]
    except (KeyError, ValueError, TypeError, csv.Error) as exc:
        raise OutsideError(f"not a table of points: {exc}") from exc


def load_points(folder: Path | None = None) -> list[Point]:
    """Return the bundled points and those imported into `folder`, which count where both have one;
    OutsideError.
    """
    points = {point.key: point for point in from_text(BUNDLED.read_text(encoding="utf-8"))}
    for path in sorted(folder.glob("*.csv")) if folder is not None else ():
        try:
            points |= {point.key: point for point in from_text(path.read_text(encoding="utf-8"))}
        except (OSError, UnicodeDecodeError, OutsideError) as exc:
            raise OutsideError(f"{path}: {exc}; import its source again, or move it away") from exc
    return sorted(points.values(), key=lambda point: point.key)


def merge_points(old: Sequence[Point], new: Sequence[Point]) -> list[Point]:
    """Return the points of both, the new one where both have it."""
    return list(({point.key: point for point in old} | {point.key: point for point in new}).values())
