"""Checks that the descriptions of a release describe it."""

import json
from typing import Any

import duckdb

from releases.catalogue import Release
from releases.descriptions.sample import MOST_PAGES, SAMPLE
from releases.descriptions.tables import tables_in
from releases.descriptions.write import CROISSANT, DATA_PACKAGE

MADE_UP = """SELECT count(*), count(visit.id) FROM read_csv($sample) AS sample
LEFT JOIN read_parquet($visits, hive_partitioning = false) AS visit
ON visit.crawl_id = sample.crawl_id AND visit.id = sample.id AND visit.is_final AND visit.host = sample.host"""


def described(release: Release) -> tuple[bool, str]:
    """True if every table stands with its checksum, size and columns in both descriptors and the sample is of the release.

    OSError, or an error of DuckDB or Arrow, if a file cannot be read.
    """
    wrong = []
    tables = tables_in(release.path, release.manifest.files)
    try:
        package = {one["path"]: one for one in _read(release, DATA_PACKAGE)["resources"]}
        stated = {one["contentUrl"]: one["sha256"] for one in _read(release, CROISSANT)["distribution"]}
        for one in tables:
            resource = package[one.file]
            columns = [field["name"] for field in resource["schema"]["fields"]]
            if (resource["hash"], resource["bytes"], columns) != (
                f"sha256:{one.sha256}", one.bytes, one.schema.names
            ) or stated[one.file] != one.sha256:  # fmt: skip
                wrong.append(one.file)
    except (ValueError, KeyError, TypeError) as exc:
        return False, f"{DATA_PACKAGE} or {CROISSANT} cannot be used: {exc!r}"
    sampled, found = _sampled(release)
    if sampled != found or sampled > MOST_PAGES:
        wrong.append(SAMPLE)
    return not wrong, ", ".join(f"{name} is not as described" for name in wrong) or (
        f"{len(tables)} tables and {sampled:,} pages of the sample are as described"
    )


def _sampled(release: Release) -> tuple[int, int]:
    """Number of rows of the sample, and of those that are final visits of the release."""
    paths = {"sample": str(release.path / SAMPLE), "visits": str(release.file("visit"))}
    with duckdb.connect(":memory:") as database:
        row = database.execute(MADE_UP, paths).fetchone()
    assert row is not None  # an aggregate always returns a row
    return int(row[0]), int(row[1])


def _read(release: Release, name: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads((release.path / name).read_text(encoding="utf-8"))
    return found
