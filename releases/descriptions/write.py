"""Writes what a release carries to describe itself, and checks that it does;
the same release gives the same bytes."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from releases.catalogue import Manifest, Release
from releases.citation.forms import cff
from releases.citation.work import cite_release
from releases.descriptions.croissant import CROISSANT, croissant
from releases.descriptions.documents import SNAPSHOTS, changelog, dictionary_page, snapshot
from releases.descriptions.tables import tables_in
from releases.measures import open_database

CITATION = "CITATION.cff"
SAMPLE = "sample.csv"

MOST_PAGES = 1000

SAMPLE_QUERY = f"""SELECT {{columns}} FROM read_parquet($path, hive_partitioning = false)
WHERE is_final ORDER BY md5(concat(crawl_id, ' ', id)), id LIMIT {MOST_PAGES}"""  # noqa: S608  # our own columns
"""Final loads, in an order without regard to rank: the same at each build, and as random as MD5."""

MADE_UP = """SELECT count(*), count(visit.id) FROM read_csv($sample) AS sample
LEFT JOIN read_parquet($visits, hive_partitioning = false) AS visit
ON visit.crawl_id = sample.crawl_id AND visit.id = sample.id AND visit.is_final AND visit.host = sample.host"""  # noqa: E501


def describe(folder: Path, manifest: Manifest, *, like: Path) -> None:
    """Write the descriptions of a release whose tables, dictionary and manifest's fields are complete.

    Documents of the project are copied from the version at `like`, so that a version can be built again
    after they changed. An illustrative release has no CITATION.cff.
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
    work = cite_release(manifest)
    if not work.refusal:
        _write(folder / CITATION, cff(work))
    _write(folder / CROISSANT, _json(croissant(work, tables_in(folder, manifest.files))))
    write_sample(folder / "visit.parquet", folder / SAMPLE)


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _write(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8", newline="\n")


def write_sample(visits: Path, place: Path) -> None:
    """Write the sample of `visits`, with its columns except lists."""
    schema = pa.schema([field for field in pq.read_schema(visits) if not pa.types.is_list(field.type)])
    columns = ", ".join(f'"{name}"' for name in schema.names)
    with open_database() as database:
        sample: pa.Table = database.sql(
            SAMPLE_QUERY.format(columns=columns), params={"path": str(visits)}
        ).to_arrow_table()
    pyarrow.csv.write_csv(sample.cast(schema), place)


def check_descriptions(release: Release) -> tuple[bool, str]:
    """Return true if every table stands with checksum, size and columns in the descriptor, and the sample
    is the release's.

    OSError, or an error of DuckDB or Arrow, if a file cannot be read.
    """
    wrong = []
    tables = tables_in(release.path, release.manifest.files)
    try:
        described = json.loads((release.path / CROISSANT).read_text(encoding="utf-8"))
        files = {file["contentUrl"]: file for file in described["distribution"]}
        columns = {
            records["name"]: [field["source"]["extract"]["column"] for field in records["field"]]
            for records in described["recordSet"]
        }
        for table in tables:
            file = files[table.file]
            if (file["sha256"], file["contentSize"], columns[table.name]) != (
                table.sha256, f"{table.bytes} B", table.schema.names
            ):  # fmt: skip
                wrong.append(table.file)
    except (ValueError, KeyError, TypeError) as exc:
        return False, f"{CROISSANT} cannot be used: {exc!r}"
    sampled, held = _sampled(release)
    if sampled != held or sampled > MOST_PAGES:
        wrong.append(SAMPLE)
    return not wrong, ", ".join(f"{name} is not as described" for name in wrong) or (
        f"{len(tables)} tables and {sampled:,} pages of the sample are as described"
    )


def _sampled(release: Release) -> tuple[int, int]:
    paths = {"sample": str(release.path / SAMPLE), "visits": str(release.file("visit"))}
    with open_database() as database:
        row = database.execute(MADE_UP, paths).fetchone()
    assert row is not None  # an aggregate always returns a row
    return int(row[0]), int(row[1])
