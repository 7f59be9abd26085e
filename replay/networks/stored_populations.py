"""Stored populations: a CSV file that `population_csv` reads, and a JSON file with its facts and the SHA-256
of both.

Some come with the code, in the folder `bundled`; others lie in the data folder.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from replay.networks.population_csv import ID, CsvPopulation, PopulationError, read_population
from storage.staging import put_file_in_place

BUNDLED = Path(__file__).with_name("bundled")

CURRENT = "mlab-2025-10"
"""The bundled population of annual reports."""

CHECKSUM = "facts_sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPopulation:
    """Facts of a stored population."""

    id: str
    measured: str
    """Month of its oldest source, as YYYY-MM."""
    source: str
    sha256: str
    networks: int
    parameters: Mapping[str, Any]
    percentiles: Mapping[str, Any]
    """The source's percentiles of bandwidth and round trip, and the sample's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPopulation(StoredPopulation):
    """A population that is not stored yet."""

    content: str


def new_population(content: str, **facts: Any) -> NewPopulation:  # noqa: ANN401  # fields of StoredPopulation
    sha256, networks = hashlib.sha256(content.encode()).hexdigest(), content.count("\n") - 1
    return NewPopulation(sha256=sha256, networks=networks, content=content, **facts)


def store(folder: Path, new: NewPopulation) -> StoredPopulation:
    """Store a population, whole; PopulationError if its id has other networks."""
    path, stored_facts = folder / f"{new.id}.csv", _find_facts(folder, new.id)
    if stored_facts is not None and stored_facts.sha256 != new.sha256:
        where = _place(folder, new.id)
        remedy = "it is bundled" if where == BUNDLED else f"move {path} away first"
        raise PopulationError(f"{new.id} is stored already, with other networks: {remedy}")
    described = dataclasses.asdict(new)
    content = described.pop("content")
    text = json.dumps({**described, CHECKSUM: _checksum(described)}, indent=1, sort_keys=True) + "\n"
    for place, written in ((path, content), (path.with_suffix(".json"), text)):
        with put_file_in_place(place) as half, half.open("w", encoding="utf-8", newline="") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
    return StoredPopulation(**described)


def list_stored(folder: Path) -> list[StoredPopulation]:
    """Return the bundled populations and a folder's, by id; PopulationError."""
    files = {path.stem: path for place in (folder, BUNDLED) for path in place.glob("*.json")}
    return [_facts(files[name]) for name in sorted(files)]


def find_population(folder: Path, name: str) -> CsvPopulation:
    """Read a stored population; PopulationError if there is none, or it contradicts its checksums."""
    return _read(_place(folder, name), facts_of(folder, name))


def check_population(folder: Path, name: str) -> CsvPopulation:
    """Read the population in `folder` itself.

    PopulationError if it contradicts its checksums, or if a bundled one of other content has its id.
    """
    facts = _facts(folder / f"{name}.json")
    population = _read(folder, facts)
    if _place(folder, name) == BUNDLED and _facts(BUNDLED / f"{name}.json") != facts:
        raise PopulationError(
            f"{folder / name}.csv is never read, since the bundled population of this id has other content: "
            f"rename it, or remove {name}.csv and {name}.json"
        )
    return population


def _read(folder: Path, facts: StoredPopulation) -> CsvPopulation:
    name, path = facts.id, folder / f"{facts.id}.csv"
    again = (
        f"remove {name}.csv and {name}.json, and make the population again (`firstflight population fetch`)"
    )
    if not path.is_file():
        raise PopulationError(f"{path} is missing: {again}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != facts.sha256:
        raise PopulationError(f"{path} is damaged, since its SHA-256 is not the one in {name}.json: {again}")
    population = read_population(path, measured=facts.measured, source=facts.source)
    whole, slow = (dataclasses.replace(part, is_stored=True) for part in population.populations)
    return dataclasses.replace(population, populations=(whole, slow))


def facts_of(folder: Path, name: str) -> StoredPopulation:
    """Return a stored population's facts; PopulationError if there is none of that id."""
    if (facts := _find_facts(folder, name)) is None:
        ids = {path.stem for place in (folder, BUNDLED) for path in place.glob("*.json")}
        raise PopulationError(f"no stored population or file {name!r}; stored are {', '.join(sorted(ids))}")
    return facts


def _place(folder: Path, name: str) -> Path:
    return BUNDLED if (BUNDLED / f"{name}.json").exists() else folder


def _find_facts(folder: Path, name: str) -> StoredPopulation | None:
    """Return one population's facts, whatever state others are in."""
    path = _place(folder, name) / f"{name}.json"
    return _facts(path) if ID.fullmatch(name) and path.is_file() else None


def _facts(path: Path) -> StoredPopulation:
    again = f"remove it and {path.stem}.csv, and make the population again"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        stated = described.pop(CHECKSUM)
        facts = msgspec.convert(described, StoredPopulation)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
        raise PopulationError(
            f"{path} is damaged, since it does not describe a population: {again} "
            f"({type(exc).__name__}: {exc})"
        ) from exc
    if stated != _checksum(described):
        raise PopulationError(f"{path} is damaged, since {CHECKSUM} is not the SHA-256 of its facts: {again}")
    if facts.id != path.stem:
        raise PopulationError(f"{path} describes {facts.id}: rename it and its .csv to that")
    return facts


def _checksum(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
