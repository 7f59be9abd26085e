"""Writes what a release carries to describe itself; the same release gives the same bytes."""

import json
from pathlib import Path
from typing import Any

from releases.catalogue import Manifest
from releases.citation.forms import cff
from releases.citation.work import of_release
from releases.descriptions.croissant import croissant
from releases.descriptions.data_package import data_package
from releases.descriptions.documents import SNAPSHOTS, changelog, dictionary_page, snapshot
from releases.descriptions.sample import SAMPLE, write_sample
from releases.descriptions.tables import KEYS, Table, tables_in
from storage.sums import sha256

CITATION = "CITATION.cff"
CROISSANT = "croissant.json"
DATA_PACKAGE = "datapackage.json"


def describe(folder: Path, manifest: Manifest, *, like: Path) -> None:
    """Write the descriptions of the release in `folder`, whose tables, dictionary and manifest's fields are complete.

    Documents of the project are copied from the version at `like` if it has them, so that a version can be built again and
    compared after the documents changed. An illustrative release has no CITATION.cff.
    """
    for document, name in SNAPSHOTS.items():
        before = like / name
        if not (folder / name).exists():
            _write(
                folder / name, before.read_text(encoding="utf-8") if before.is_file() else snapshot(document)
            )
    _write(folder / "changelog.md", changelog(manifest))
    dictionary: dict[str, Any] = json.loads((folder / "dictionary.json").read_text(encoding="utf-8"))
    _write(folder / "dictionary.html", dictionary_page(dictionary))
    work = of_release(manifest)
    if not work.refusal:
        _write(folder / CITATION, cff(work))
    tables = tables_in(folder, manifest.files)
    _write(folder / CROISSANT, _json(croissant(work, tables)))
    package = data_package(work, f"{manifest.crawl}".lower(), tables, _sample(folder))
    _write(folder / DATA_PACKAGE, _json(package))


def _sample(folder: Path) -> Table:
    """Write the sample, and say what it is."""
    place = folder / SAMPLE
    schema = write_sample(folder / "visit.parquet", place)
    return Table(
        name="sample",
        file=SAMPLE,
        sha256=sha256(place),
        bytes=place.stat().st_size,
        schema=schema,
        key=KEYS["visit"],
    )


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _write(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8", newline="\n")
