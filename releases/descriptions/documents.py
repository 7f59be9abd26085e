"""Documents that a release carries: its dictionary as a page, its changelog and errata,
and the method as of its build."""

import html
import importlib.resources
from typing import Any

from releases.catalogue import Manifest

SNAPSHOTS = {"methods.md": "method.md", "data-changelog.md": "data-changelog.md"}
"""Documents of the project, and their names in a release."""


def snapshot(document: str) -> str:
    return importlib.resources.files("docs").joinpath(document).read_text(encoding="utf-8")


def changelog(manifest: Manifest) -> str:
    """Return why each version was made, the newest first, which is the erratum of the one before."""
    lines = [
        f"# Versions and errata of {manifest.crawl}",
        "",
        "A version never changes. What a version corrects is an erratum of those before it. "
        "Versions made after this one are not",
        "listed here: `/v1/releases` of the service, and the folders beside this one, have them. What "
        "changed in the data from one",
        "version of the method to the next stands in `data-changelog.md`.",
        "",
    ]
    for edition in reversed(manifest.history):
        why = edition.reason or ("the first" if edition.version == 1 else "not stated")
        lines.append(f"- Version {edition.version}, {edition.date or 'on a day that is unknown'}: {why}")
    return "\n".join(lines) + "\n"


def dictionary_page(dictionary: dict[str, Any]) -> str:
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width">',
        "<title>Data dictionary</title></head><body><h1>Data dictionary</h1>",
    ]
    for name, table in dictionary["tables"].items():
        parts.append(f'<h2 id="{_text(name)}">{_text(name)}</h2><p>{_text(table["description"])}</p>')
        columns = (
            (
                column["name"],
                column["type"],
                "null or known" if column["nullable"] else "never null",
                column["comment"],
            )
            for column in table["columns"]
        )
        parts.append(_table(("Column", "Type", "Null", "Definition"), columns))
    for name, words in dictionary.items():
        if name != "tables":
            parts.append(f'<h2 id="{_text(name)}">{_text(name)}</h2>')
            parts.append(_table(("Word", "Definition"), words.items()))
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _table(headings: tuple[str, ...], rows: Any) -> str:  # noqa: ANN401  # rows of texts of any kind
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    body = "\n".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _text(value: object) -> str:
    return html.escape(f"{value}")
