"""Writes a release of observations that no database holds, such as pages that somebody else recorded."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from releases import parquet
from releases.build import (
    Built,
    finish,
    make_manifest,
    name_in,
    new_folder,
    newest_version,
    write_computed,
    write_dictionary,
)
from releases.catalogue import RECORDING
from releases.descriptions.history import version_history
from schema.authors import Author
from schema.recorded import Notes, released_schema
from schema.released_tables import released_tables
from storage.signatures import Signer


def write_imported(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    recording: Mapping[str, Any],
    root: Path,
    *,
    checksum: str,
    notes: Notes,
    version: int | None = None,
    reason: str | None = None,
    authors: tuple[Author, ...] = (),
    recorded_by: tuple[Author, ...] = (),
    signer: Signer | None = None,
) -> Built:
    """Write the release of `tables`, rows by table in the order of their keys, below `root`.

    `recording` becomes recording.json. `checksum` is that of the imported data, and `notes` say what its
    columns mean. `version` is by default the newest existing version, or 1; an existing version is
    compared and never rewritten, and a new one after the first needs a `reason`. `authors` derived the
    release from what `recorded_by` recorded. ReleaseError leaves nothing behind.
    """
    (crawl,) = tables["crawl"]
    name = name_in(crawl)
    chosen = version if version is not None else newest_version(root, name)
    history = version_history(root, name, version=chosen, reason=reason)
    with new_folder(root) as folder:
        rows = write_tables(tables, folder, name.kind, notes)
        rows |= write_computed(folder, name.kind)
        write_dictionary(folder, name.kind, notes)
        text = json.dumps(recording, indent=2, ensure_ascii=False) + "\n"
        (folder / RECORDING).write_text(text, encoding="utf-8")
        manifest = make_manifest(
            crawl,
            folder,
            history=history,
            rows=rows,
            list_checksum=checksum,
            authors=authors,
            recorded_by=recorded_by,
        )
        return finish(folder, manifest, name.path(root, version=chosen), signer=signer)


def write_tables(
    tables: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path, kind: str, notes: Notes
) -> dict[str, int]:
    """Write the observation tables; return rows by table. Columns that a row lacks are null."""
    rows = {}
    for name, table in released_tables().items():
        schema = released_schema(name, kind, notes)
        rows[name] = parquet.write(
            folder / f"{name}.parquet",
            [pa.Table.from_pylist(list(tables[name]), schema=schema)],
            schema,
            sorted_by=table.key,
        )
    return rows
