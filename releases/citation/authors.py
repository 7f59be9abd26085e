"""Reads the authors of releases from the operator's CITATION.cff."""

import re
from pathlib import Path
from typing import Any

from releases.catalogue import ReleaseError
from schema.authors import Author

CFF = "1.2.0"
"""Version of the Citation File Format that is read."""

NEEDED = ("message", "title")

ADDRESS = {
    "address",
    "alias",
    "city",
    "country",
    "email",
    "fax",
    "orcid",
    "post-code",
    "region",
    "tel",
    "website",
}
PERSON = ADDRESS | {"affiliation", "family-names", "given-names", "name-particle", "name-suffix"}
ORGANISATION = ADDRESS | {"date-end", "date-start", "location", "name"}
"""Fields of authors (Citation File Format 1.2.0, definitions.person and definitions.entity)."""

ORCID = re.compile(r"https://orcid\.org/[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")


def authors_in(path: Path) -> tuple[Author, ...]:
    """Return the authors of a CITATION.cff; ReleaseError if it is none, or has an unknown field."""
    from ruamel.yaml import YAML  # of use where a release is built, and nowhere else
    from ruamel.yaml.error import YAMLError

    try:
        facts = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
        return tuple(map(_author, _checked(facts)))
    except (OSError, ValueError, YAMLError) as exc:
        raise ReleaseError(f"{path} is no CITATION.cff that can be used: {_first_line(exc)}") from exc


def _checked(facts: object) -> list[dict[str, Any]]:
    """Return the authors in a file's facts; ValueError if it is no CITATION.cff."""
    match facts:
        case {"cff-version": str(version), "authors": [_, *_] as authors, **others} if version == CFF:
            lacking = [name for name in NEEDED if not isinstance(others.get(name), str) or not others[name]]
            if lacking:
                raise ValueError(f"it lacks {', '.join(lacking)}")
            return [_checked_author(author) for author in authors]
    raise ValueError(f"it must have cff-version {CFF} and a list of authors")


def _checked_author(facts: object) -> dict[str, Any]:
    if not isinstance(facts, dict):
        raise ValueError(f"an author is {facts!r}, and must have names")  # noqa: TRY004  # one error for all that is wrong
    unknown = sorted(map(str, facts.keys() - (ORGANISATION if "name" in facts else PERSON)))
    if unknown:
        raise ValueError(f"an author has the field {unknown[0]}, which the format does not know")
    empty = [name for name, value in facts.items() if not isinstance(value, str) or not value]
    if set(empty) - {"post-code", "date-start", "date-end"}:
        raise ValueError(f"the field {empty[0]} of an author is no text")
    if "orcid" in facts and not ORCID.fullmatch(facts["orcid"]):
        raise ValueError(f"{facts['orcid']!r} is no ORCID: write https://orcid.org/0000-0002-1825-0097")
    return facts


def _author(facts: dict[str, Any]) -> Author:
    known = {name: str(facts.get(name, "")) for name in ("orcid", "affiliation", "alias")}
    family, given = facts.get("family-names", ""), facts.get("given-names", "")
    if "name" in facts:
        return Author(name=facts["name"], orcid=known["orcid"])
    # A person may have a single name, or none but an alias.
    return Author(
        name=family or given or known["alias"] or "Anonymous",
        given=given if family else "",
        particle=facts.get("name-particle", ""),
        suffix=facts.get("name-suffix", ""),
        orcid=known["orcid"],
        affiliation=known["affiliation"],
    )


def _first_line(exc: Exception) -> str:
    text = (exc.strerror if isinstance(exc, OSError) else None) or f"{exc}"
    return text.strip().split("\n", 1)[0] or type(exc).__name__
