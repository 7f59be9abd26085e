"""The forms of a citation: BibTeX, CSL-JSON and CITATION.cff."""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping

from releases.citation.work import PUBLISHER, Kind, NotCitable, Work
from schema.authors import Author

TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


SUMMED = "SHA-256 of the lines of SHA256SUMS for the tables of data"
"""Contents that the checksum of a work covers."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """How the forms name a kind of work."""

    bibtex: str
    publisher: str
    csl: str
    cff: str
    preferred: str = ""
    """Type of CITATION.cff's preferred citation; empty if `cff` says it."""


TYPES: Mapping[Kind, Types] = {
    "dataset": Types(bibtex="misc", publisher="publisher", csl="dataset", cff="dataset"),
    "report": Types(
        bibtex="techreport",
        publisher="institution",
        csl="report",
        cff="dataset",
        preferred="report",
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """One form of a citation."""

    media_type: str
    title: str
    write: Callable[[Work], str]


def cite(work: Work, form: str) -> str:
    """Return the citation in a form of FORMS; NotCitable."""
    if work.refusal:
        raise NotCitable(work.refusal)
    return FORMS[form].write(work)


def in_tex(text: str) -> str:
    """Escape a text so that TeX shows it.

    >>> print(in_tex("100 % of {a_b}"))
    100 \\% of \\{a\\_b\\}
    """
    return "".join(TEX.get(character, character) for character in text)


def bibtex(work: Work) -> str:
    """Return an entry of a type that every style knows."""
    fields = {
        "author": " and ".join(_in_bibtex(author) for author in work.authors),
        "title": f"{{{in_tex(work.title)}}}",
        "year": f"{work.year}",
        **({"month": MONTHS[int(work.date[5:7]) - 1]} if work.date else {}),
        TYPES[work.kind].publisher: PUBLISHER,
        "version": f"{work.version}",
        "note": in_tex(f"Version {work.version}; {work.data}; {work.licence_text}"),
        **({"howpublished": f"\\url{{{work.url}}}", "url": work.url} if work.url else {}),
    }
    kind = TYPES[work.kind].bibtex
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join((f"@{kind}{{{work.key},", *lines, "}")) + "\n"


def _in_bibtex(author: Author) -> str:
    r"""Return an author; an organisation stands in braces, as a single name.

    >>> _in_bibtex(Author(name="R&D")), _in_bibtex(Author(name="Neumann", given="John", particle="von", suffix="Jr."))
    ('{R\\&D}', 'von {Neumann}, {Jr.}, {John}')
    """  # noqa: E501
    if not author.given:
        return f"{{{in_tex(author.name)}}}"
    # The particle stands without braces: BibTeX takes it for one by its small letter.
    family = f"{in_tex(author.particle)} {{{in_tex(author.name)}}}".strip()
    rest = [f"{{{in_tex(part)}}}" for part in (author.suffix, author.given) if part]
    return ", ".join([family, *rest])


def csl(work: Work) -> str:
    parts = [int(part) for part in (work.date or f"{work.year}").split("-")]
    item = {
        "id": work.key,
        "type": TYPES[work.kind].csl,
        "title": work.title,
        "author": [_in_csl(author) for author in work.authors],
        "issued": {"date-parts": [parts]},
        "publisher": PUBLISHER,
        "version": f"{work.version}",
        "abstract": work.abstract,
        "note": f"{work.data}; {work.licence_text}",
        **({"URL": work.url} if work.url else {}),
    }
    return _json([item])


def _in_csl(author: Author) -> dict[str, str]:
    if not author.given:
        return {"literal": author.name}
    names = {
        "family": author.name,
        "given": author.given,
        "non-dropping-particle": author.particle,
        "suffix": author.suffix,
    }
    return {name: value for name, value in names.items() if value}


def cff(work: Work) -> str:
    """Return CITATION.cff 1.2.0, where a report's type stands in its preferred citation."""
    facts: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, cite them as below.",
        "type": TYPES[work.kind].cff,
        "title": work.title,
        "abstract": work.abstract,
        "authors": [_in_cff(author) for author in work.authors],
        "version": f"{work.version}",
        **({"date-released": work.date} if work.date else {}),
        "license": work.licence,
        **({"url": work.url} if work.url else {}),
        "identifiers": [
            {"type": "other", "value": value, "description": SUMMED}
            for value in re.findall(r"sha256:[0-9a-f]{64}", work.data)
        ],
    }
    if not facts["identifiers"]:  # the schema asks for at least one
        del facts["identifiers"]
    if TYPES[work.kind].preferred:
        kept = ("title", "authors", "version", "date-released", "license", "url")
        facts["preferred-citation"] = {
            "type": TYPES[work.kind].preferred,
            **{name: facts[name] for name in kept if name in facts},
            "year": work.year,
            "institution": {"name": PUBLISHER},
        }
    # JSON values are YAML too, whatever they contain.
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in facts.items())


def _in_cff(author: Author) -> dict[str, str]:
    names = (
        {
            "family-names": author.name,
            "given-names": author.given,
            "name-particle": author.particle,
            "name-suffix": author.suffix,
            "affiliation": author.affiliation,
        }
        if author.given
        else {"name": author.name}
    )
    return {name: value for name, value in {**names, "orcid": author.orcid}.items() if value}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


FORMS: Mapping[str, Form] = {
    "bib": Form("application/x-bibtex; charset=utf-8", "BibTeX", bibtex),
    "csl.json": Form("application/vnd.citationstyles.csl+json", "CSL-JSON", csl),
    "cff": Form("application/yaml", "CITATION.cff", cff),
}
"""Forms by the suffix of their address."""
