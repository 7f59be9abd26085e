"""Read a population from a CSV file with a network in each row (docs/populations.md has the format)."""

import csv
import dataclasses
import hashlib
import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from replay.networks.profiles import DISCIPLINES, QUEUE_BYTES, Population, Profile

MOST_ROWS = 200
"""Most networks of a population: each costs a calibration."""

MOST_CHARACTERS = 1_000_000
"""Largest file that is read."""

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MEASURED = re.compile(r"20\d\d-(0[1-9]|1[0-2])")

SLOW_SHARE = 0.25
"""Share of the weight that forms the slow part of a file without slow_weight:
the networks with the least bandwidth. Ours."""

LONGEST_ID = 24
"""Most characters of a population's id."""


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers and their allowed range."""

    name: str
    least: float
    most: float
    is_needed: bool = True

    def value(self, text: str | None) -> float:
        """Return the number in `text`; ValueError, which says what would do, if it is none or out of
        range."""
        try:
            number = float(text or "")
        except ValueError:
            number = math.nan
        if not self.least <= number <= self.most:
            raise ValueError(f"a number from {self.least:g} to {self.most:g}")
        return number


@dataclasses.dataclass(frozen=True, slots=True)
class WordColumn:
    """A column that holds one of several words."""

    name: str
    words: tuple[str, ...]
    is_needed: bool = False

    def value(self, text: str | None) -> str:
        """Return the word in `text`; ValueError, which says what would do, if it is another."""
        if text is None or text not in self.words:
            raise ValueError(" or ".join(self.words))
        return text


COLUMNS: tuple[Column | WordColumn, ...] = (
    Column("bandwidth_kbps", 16, 1_000_000),
    Column("rtt_ms", 0.1, 5_000),
    Column("loss", 0, 0.5),
    Column("weight", 1e-12, 1e15),
    Column("up_kbps", 16, 1_000_000, is_needed=False),
    Column("queue_bytes", 3_028, 16_000_000, is_needed=False),
    WordColumn("discipline", DISCIPLINES),
    Column("slow_weight", 0, 1e15, is_needed=False),
)


class PopulationError(Exception):
    """A population cannot be read; the message names the file, the row and the correct form."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CsvPopulation:
    """The networks of a CSV file, their population, and its slow part."""

    profiles: tuple[Profile, ...]
    populations: tuple[Population, Population]


def read_population(path: Path, *, measured: str, source: str) -> CsvPopulation:
    """Read the population of a file; its id is the file's name. Raises PopulationError."""
    name = path.stem
    if not ID.fullmatch(name) or len(name) > LONGEST_ID:
        raise PopulationError(
            f"{path}: its name becomes the population's id; call it something like ndt-2026-05.csv"
        )
    if not MEASURED.fullmatch(measured):
        raise PopulationError(
            f"say when the population was measured: population_measured is {measured or 'empty'}, "
            "not a month such as 2026-05"
        )
    if not source.strip():
        raise PopulationError("say where the population comes from: population_source is empty")
    content = _content(path)
    rows = list(_rows(path, content))
    profiles = tuple(_profile(f"{name}-{number}", row, source) for number, row in enumerate(rows, start=1))
    shares = shares_of([row["weight"] for row in rows])
    whole = tuple((profile.id, share) for profile, share in zip(profiles, shares, strict=True))
    checksum = hashlib.sha256(content.encode()).hexdigest()
    population = Population(
        id=name, weights=whole, slow=False, measured=measured, source=source, checksum=checksum
    )
    how, slow_weights = _slow(path, profiles, rows, shares)
    slow = dataclasses.replace(
        population, id=f"{name}-slow", weights=slow_weights, source=f"{source}: {how}", slow=True
    )
    return CsvPopulation(profiles=profiles, populations=(population, slow))


def shares_of(weights: Sequence[float]) -> list[float]:
    """Return the weights made to sum to 1."""
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


def _slow(
    path: Path, profiles: Sequence[Profile], rows: Sequence[dict[str, Any]], shares: Sequence[float]
) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return what the slow part is, and its weights: the file's slow_weight, or the slowest quarter."""
    if "slow_weight" not in rows[0]:
        return "the quarter of its weight with the least bandwidth (ours)", slow_part(profiles, shares)
    slow_weights = [row["slow_weight"] for row in rows]
    if not any(slow_weights):
        raise PopulationError(f"{path}: no network has a slow_weight above 0")
    pairs = zip(profiles, shares_of(slow_weights), strict=True)
    return "its slow part, by slow_weight", tuple(
        (profile.id, share) for profile, share in pairs if share > 0
    )


def slow_part(profiles: Sequence[Profile], shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the networks of the slowest quarter with their shares of it; the last network counts in part."""
    left, slowest = SLOW_SHARE, []
    for profile, share in sorted(zip(profiles, shares, strict=True), key=lambda pair: pair[0].down_bps):
        if left <= 0:
            break
        slowest.append((profile.id, min(share, left) / SLOW_SHARE))
        left -= share
    return tuple(slowest)


def _profile(name: str, row: dict[str, Any], source: str) -> Profile:
    """Return the profile of a row; by default the uplink is a quarter of the downlink and the queue is
    QUEUE_BYTES."""
    down_bps = round(1000 * row["bandwidth_kbps"])
    return Profile(
        id=name,
        down_bps=down_bps,
        up_bps=round(1000 * row["up_kbps"]) if "up_kbps" in row else max(down_bps // 4, 128_000),
        rtt_us=round(1000 * row["rtt_ms"]),
        queue_bytes=round(row.get("queue_bytes", QUEUE_BYTES)),
        source=source,
        loss=row["loss"],
        discipline=row.get("discipline", "tail-drop"),
    )


def _content(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            content = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as exc:
        raise PopulationError(f"{path} cannot be read as CSV: {exc}") from exc
    if len(content) > MOST_CHARACTERS:
        raise PopulationError(f"{path} has more than {MOST_ROWS} networks: group them, with weights")
    return content


def _rows(path: Path, content: str) -> Iterator[dict[str, Any]]:
    try:
        reader = csv.DictReader(io.StringIO(content.removeprefix("\ufeff"), newline=""), strict=True)
        _check_header(path, reader.fieldnames or [])
        count = 0
        for count, row in enumerate(reader, start=1):
            if count > MOST_ROWS:
                raise PopulationError(f"{path} has more than {MOST_ROWS} networks: group them, with weights")
            yield dict(_values(f"{path}, line {reader.line_num}", row))
    except csv.Error as exc:
        raise PopulationError(f"{path} cannot be read as CSV: {exc}") from exc
    if not count:
        raise PopulationError(f"{path} has no network below its header")


def _check_header(path: Path, names: Sequence[str]) -> None:
    lacking = [column.name for column in COLUMNS if column.is_needed and column.name not in names]
    unknown = [str(name) for name in names if name not in {column.name for column in COLUMNS}]
    if lacking or unknown or len(set(names)) != len(names):
        allowed = ", ".join(
            f"{column.name}" if column.is_needed else f"[{column.name}]" for column in COLUMNS
        )
        raise PopulationError(
            f"{path}: its first line must name the columns {allowed}; it has {', '.join(names)}"
        )


def _values(where: str, row: dict[str, str | None]) -> Iterator[tuple[str, Any]]:
    if None in row:
        raise PopulationError(f"{where}: more values than columns")
    for column in COLUMNS:
        if column.name not in row:
            continue
        text = row[column.name]
        try:
            yield column.name, column.value(text)
        except ValueError as exc:
            raise PopulationError(f"{where}: {column.name} must be {exc}, not {text!r}") from exc
