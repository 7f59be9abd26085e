"""A small published version of a report, without a release behind it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from storage.report_versions import Publication
from storage.sums import seal

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<meta name="viewport" content="width=device-width"></head><body><main><h1>{0}</h1></main></body></html>"""

SECOND = Publication(
    version=2,
    date="2027-03-01",
    reason="two <sites> were withdrawn",
    corrects="shares by up to 0.1 %.",
    supersedes="ab" * 32,
    changed=["the release: version 2 in place of version 1"],
)
"""A second version, with markup in its reason."""


CITABLE: dict[str, Any] = {
    "is_illustrative": False,
    "citation": {"title": "First flights in 2026", "data": "release x", "licence": "CC-BY-4.0"},
    "sections": [{"figures": [{"id": "fig-gains", "title": "Gains."}]}],
}


def write_version(year: Path, publication: Publication, **content: object) -> Path:
    """Write a version, with more `content`, to its place in the folder of its year."""
    folder = year / f"v{publication.version}"
    folder.mkdir(parents=True)
    facts = {**dataclasses.asdict(publication), "changed": [*publication.changed]}
    for name in ("index.html", "draft.html"):
        (folder / name).write_text(PAGE.format(f"Report of {year.name}"))
    stated = {"year": int(year.name), "publication": facts, **CITABLE, **content}
    (folder / "report.json").write_text(json.dumps(stated))
    (folder / "summary.txt").write_text(f"no change by version {publication.version}\n")
    seal(folder, {"kind": "report", "year": int(year.name), "publication": facts})
    return folder
