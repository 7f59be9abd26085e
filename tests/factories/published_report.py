"""A small published version of a report, without a release behind it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from storage.report_versions import Publication
from storage.sums import seal

PAGE = "<!doctype html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"


def write_version(year: Path, publication: Publication, *, to: Path | None = None) -> Path:
    """Write a version to its place in the folder of its year, or to the folder `to`."""
    folder = to or year / f"v{publication.version}"
    folder.mkdir(parents=True)
    facts = {**dataclasses.asdict(publication), "changed": [*publication.changed]}
    for name in ("index.html", "draft.html"):
        (folder / name).write_text(PAGE.format(f"Report of {year.name}"))
    (folder / "report.json").write_text(json.dumps({"year": int(year.name), "publication": facts}))
    (folder / "summary.txt").write_text(f"no change by version {publication.version}\n")
    seal(folder, {"kind": "report", "year": int(year.name), "publication": facts})
    return folder
