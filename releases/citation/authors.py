"""Reads the authors of releases from the operator's CITATION.cff."""

from pathlib import Path
from typing import Any

from releases.catalogue import ReleaseError
from schema.authors import Author

CFF = "1.2.0"
"""Version of the Citation File Format that is read."""


def authors_in(path: Path) -> tuple[Author, ...]:
    """The authors of a CITATION.cff, checked against the schema of its format.

    ReleaseError if it cannot be used.
    """
    # Imported here: they load an HTTP client, for which only a build of a release with authors pays.
    from cffconvert.behavior_1_2_x.citation import Citation_1_2_x
    from jsonschema import ValidationError
    from ruamel.yaml.error import YAMLError

    try:
        citation = Citation_1_2_x(path.read_text(encoding="utf-8"), CFF)
        citation.validate()
    except (OSError, ValueError, YAMLError, ValidationError) as exc:
        raise ReleaseError(f"{path} is no CITATION.cff that can be used: {_first_line(exc)}") from exc
    facts: dict[str, Any] = citation.cffobj
    return tuple(map(_author, facts["authors"]))


def _author(facts: dict[str, Any]) -> Author:
    """An author by the names of the Citation File Format."""
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
    said = getattr(exc, "message", None) or (exc.strerror if isinstance(exc, OSError) else None) or f"{exc}"
    return f"{said}".strip().split("\n", 1)[0] or type(exc).__name__
