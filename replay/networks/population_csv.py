"""Read a population from a CSV file with a network in each row (docs/populations.md has the format)."""

import csv
import dataclasses
import hashlib
import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from replay.networks.profiles import QUEUE_BYTES, Discipline, Population, Profile

MOST_ROWS = 200
"""Most networks of a population: each costs a calibration."""

MOST_CHARACTERS = 1_000_000

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MEASURED = re.compile(r"20\d\d-(0[1-9]|1[0-2])")

SLOW_SHARE = 0.25
"""Share of the weight that is slow in a file without slow_weight: the least bandwidths. Ours."""

LONGEST_ID = 24


class NetworkRow(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A network of the file."""

    bandwidth_kbps: Annotated[float, Meta(ge=16, le=1_000_000)]
    rtt_ms: Annotated[float, Meta(ge=0.1, le=5_000)]
    loss: Annotated[float, Meta(ge=0, le=0.5)]
    weight: Annotated[float, Meta(ge=1e-12, le=1e15)]
    up_kbps: Annotated[float, Meta(ge=16, le=1_000_000)] | None = None
    queue_bytes: Annotated[float, Meta(ge=3_028, le=16_000_000)] = QUEUE_BYTES
    discipline: Discipline = "tail-drop"
    slow_weight: Annotated[float, Meta(ge=0, le=1e15)] | None = None


NEEDED = [field.name for field in msgspec.structs.fields(NetworkRow) if field.required]


class PopulationError(Exception):
    """A population cannot be read; the message names file, row and correct form."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CsvPopulation:
    """The networks of a CSV file, their population, and its slow part."""

    profiles: tuple[Profile, ...]
    populations: tuple[Population, Population]


def read_population(path: Path, *, measured: str, source: str) -> CsvPopulation:
    """Read a population, whose id is the file's name; PopulationError."""
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
    shares = shares_of([row.weight for row in rows])
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
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


def _slow(
    path: Path, profiles: Sequence[Profile], rows: Sequence[NetworkRow], shares: Sequence[float]
) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return a description and the weights of the slow part: the file's slow_weight, or the slowest
    quarter."""
    slow_weights = [row.slow_weight for row in rows if row.slow_weight is not None]
    if not slow_weights:
        return "the quarter of its weight with the least bandwidth (ours)", slow_part(profiles, shares)
    if not any(slow_weights):
        raise PopulationError(f"{path}: no network has a slow_weight above 0")
    pairs = zip(profiles, shares_of(slow_weights), strict=True)
    return "its slow part, by slow_weight", tuple(
        (profile.id, share) for profile, share in pairs if share > 0
    )


def slow_part(profiles: Sequence[Profile], shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the slowest quarter with shares of it; the last network counts in part."""
    left, slowest = SLOW_SHARE, []
    for profile, share in sorted(zip(profiles, shares, strict=True), key=lambda pair: pair[0].down_bps):
        if left <= 0:
            break
        slowest.append((profile.id, min(share, left) / SLOW_SHARE))
        left -= share
    return tuple(slowest)


def _profile(name: str, row: NetworkRow, source: str) -> Profile:
    """Return a row's profile; by default with a quarter as uplink, and QUEUE_BYTES."""
    down_bps = round(1000 * row.bandwidth_kbps)
    return Profile(
        id=name,
        down_bps=down_bps,
        up_bps=max(down_bps // 4, 128_000) if row.up_kbps is None else round(1000 * row.up_kbps),
        rtt_us=round(1000 * row.rtt_ms),
        queue_bytes=round(row.queue_bytes),
        source=source,
        loss=row.loss,
        discipline=row.discipline,
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


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _rows(path: Path, content: str) -> Iterator[NetworkRow]:
    count = 0
    try:
        reader = csv.DictReader(io.StringIO(content.removeprefix("\ufeff"), newline=""), strict=True)
        names = reader.fieldnames or []
        if lacking := [name for name in NEEDED if name not in names]:
            raise PopulationError(f"{path}: its first line does not name {', '.join(lacking)}")
        if len({*names}) < len(names):
            raise PopulationError(f"{path}: its first line names a column twice")
        for count, row in enumerate(reader, start=1):
            if count > MOST_ROWS:
                raise PopulationError(f"{path} has more than {MOST_ROWS} networks: group them, with weights")
            if None in row:
                raise PopulationError(f"{path}, line {reader.line_num}: more values than columns")
            if None in row.values():
                raise PopulationError(f"{path}, line {reader.line_num}: fewer values than columns")
            try:
                yield msgspec.convert({name: _number(value) for name, value in row.items()}, NetworkRow)
            except msgspec.ValidationError as exc:
                raise PopulationError(f"{path}, line {reader.line_num}: {exc}") from exc
    except csv.Error as exc:
        raise PopulationError(f"{path} cannot be read as CSV: {exc}") from exc
    if not count:
        raise PopulationError(f"{path} has no network below its header")
