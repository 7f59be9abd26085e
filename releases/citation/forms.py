"""The forms of a citation: BibTeX, CSL-JSON, RIS, CITATION.cff, DataCite JSON,
and references of Internet-Drafts."""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from releases.citation.kinds import TYPES
from releases.citation.licences import licence_page
from releases.citation.reference import Reference, reference_block, reference_element, written
from releases.citation.work import PUBLISHER, NotCitable, Work
from schema.authors import Author

TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    one: f"\\{one}" for one in "&%$#_{}"
}
"""How characters that TeX takes for markup are written."""

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """One form of a citation."""

    media_type: str
    title: str
    write: Callable[[Work], str]


def cite(work: Work, form: str) -> str:
    """The citation in a form of FORMS; NotCitable if the work must not be cited."""
    if work.refusal:
        raise NotCitable(work.refusal)
    return FORMS[form].write(work)


def in_tex(text: str) -> str:
    """Text as TeX shows it.

    >>> print(in_tex("100 % of {a_b}"))
    100 \\% of \\{a\\_b\\}
    """
    return "".join(TEX.get(one, one) for one in text)


def bibtex(work: Work) -> str:
    """BibTeX entry that every style knows."""
    fields = {
        "author": " and ".join(_in_bibtex(one) for one in work.authors),
        "title": f"{{{in_tex(work.title)}}}",
        "year": f"{work.year}",
        **({"month": MONTHS[int(work.date[5:7]) - 1][:3].lower()} if work.date else {}),
        TYPES[work.kind].publisher: PUBLISHER,
        "version": f"{work.version}",
        "note": in_tex(f"Version {work.version}; {work.data}; {work.licence}"),
        **({"howpublished": f"\\url{{{work.url}}}", "url": work.url} if work.url else {}),
    }
    kind = TYPES[work.kind].bibtex
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join((f"@{kind}{{{work.key},", *lines, "}")) + "\n"


def _in_bibtex(author: Author) -> str:
    """An author as BibTeX reads it: an organisation is one name, in braces.

    >>> _in_bibtex(Author(name="R&D")), _in_bibtex(Author(name="Neumann", given="John", particle="von", suffix="Jr."))
    ('{R\\\\&D}', 'von {Neumann}, {Jr.}, {John}')
    """  # noqa: E501
    if not author.given:
        return f"{{{in_tex(author.name)}}}"
    # The particle stands without braces: BibTeX takes it for one by its small letter.
    family = f"{in_tex(author.particle)} {{{in_tex(author.name)}}}".strip()
    rest = [f"{{{in_tex(part)}}}" for part in (author.suffix, author.given) if part]
    return ", ".join([family, *rest])


def csl(work: Work) -> str:
    """CSL-JSON, an array of one item, as Zotero, Pandoc and citeproc read it."""
    parts = [int(part) for part in (work.date or f"{work.year}").split("-")]
    item = {
        "id": work.key,
        "type": TYPES[work.kind].csl,
        "title": work.title,
        "author": [_in_csl(one) for one in work.authors],
        "issued": {"date-parts": [parts]},
        "publisher": PUBLISHER,
        "version": f"{work.version}",
        "abstract": work.abstract,
        "note": f"{work.data}; {work.licence}",
        **({"URL": work.url} if work.url else {}),
    }
    return _json([item])


def _in_csl(author: Author) -> dict[str, str]:
    """An author by the names of CSL."""
    if not author.given:
        return {"literal": author.name}
    found = {
        "family": author.name,
        "given": author.given,
        "non-dropping-particle": author.particle,
        "suffix": author.suffix,
    }
    return {name: value for name, value in found.items() if value}


def ris(work: Work) -> str:
    """RIS, as EndNote, Mendeley and Zotero read it."""
    fields = [
        ("TY", TYPES[work.kind].ris),
        ("ID", work.key),
        *(("AU", one.inverted) for one in work.authors),
        ("TI", work.title),
        ("PY", f"{work.year}"),
        *([("DA", work.date.replace("-", "/"))] if work.date else []),
        ("PB", PUBLISHER),
        ("ET", f"{work.version}"),
        ("AB", work.abstract),
        ("N1", f"{work.data}; {work.licence}"),
        *([("UR", work.url)] if work.url else []),
        ("ER", ""),
    ]
    return "".join(f"{tag}  - {' '.join(value.split())}\r\n" for tag, value in fields)


def cff(work: Work) -> str:
    """CITATION.cff 1.2.0, whose type of a report stands in its preferred citation."""
    facts: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this work, cite it as below."
        if work.kind == "method"
        else "If you use these data, cite them as below.",
        "type": TYPES[work.kind].cff,
        "title": work.title,
        "abstract": work.abstract,
        "authors": [_in_cff(one) for one in work.authors],
        "version": f"{work.version}",
        **({"date-released": work.date} if work.date else {}),
        "license": work.licence,
        **({"url": work.url} if work.url else {}),
        "identifiers": [
            {"type": "other", "value": value, "description": _summed(work)}
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


def _summed(work: Work) -> str:
    """What the checksum of a work is of."""
    return "SHA-256 of the text" if work.kind == "method" else "SHA-256 of SHA256SUMS"


def _in_cff(author: Author) -> dict[str, str]:
    """An author by the names of the Citation File Format."""
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


def datacite(work: Work) -> str:
    """DataCite JSON of schema 4, as Zenodo and DataCite take it; the archive adds the DOI."""
    kind = TYPES[work.kind].datacite
    dates = {"Issued": work.date, "Collected": work.observed}
    return _json(
        {
            "schemaVersion": "http://datacite.org/schema/kernel-4",
            "types": {"resourceType": kind, "resourceTypeGeneral": kind},
            "creators": [_in_datacite(one) for one in work.authors],
            "titles": [{"title": work.title}],
            "publisher": {"name": PUBLISHER},
            "publicationYear": f"{work.year}",
            "version": f"{work.version}",
            "dates": [{"date": day, "dateType": name} for name, day in dates.items() if day],
            "language": "en",
            "rightsList": [
                {
                    "rights": work.licence,
                    "rightsUri": licence_page(work.licence),
                    "rightsIdentifier": work.licence,
                    "rightsIdentifierScheme": "SPDX",
                    "schemeUri": "https://spdx.org/licenses/",
                }
            ],
            "descriptions": [
                {"description": work.abstract, "descriptionType": "Abstract"},
                {"description": work.data, "descriptionType": "TechnicalInfo"},
            ],
            **({"url": work.url} if work.url else {}),
        }
    )


def _in_datacite(author: Author) -> dict[str, Any]:
    """An author as a creator of DataCite's schema."""
    found: dict[str, Any] = {
        "name": author.inverted,
        "nameType": "Personal" if author.given else "Organizational",
    }
    if author.given:
        found |= {"givenName": author.given, "familyName": author.family}
    if author.orcid:
        record = {
            "nameIdentifier": author.orcid,
            "nameIdentifierScheme": "ORCID",
            "schemeUri": "https://orcid.org",
        }
        found["nameIdentifiers"] = [record]
    if author.affiliation:
        found["affiliation"] = [{"name": author.affiliation}]
    return found


def reference(work: Work) -> Reference:
    """A reference for an Internet-Draft, whose lines are too short for whole checksums."""
    data = re.sub(r"(sha256:[0-9a-f]{16})[0-9a-f]+", r"\1...", work.data)
    return Reference(
        anchor=work.key.upper(),
        title=work.title,
        authors=tuple((one.initials, one.family) for one in work.authors),
        year=work.year,
        month=MONTHS[int(work.date[5:7]) - 1] if work.date else "",
        target=work.url or "",
        content=f"Version {work.version}; {data}",
    )


def _json(value: list[dict[str, Any]] | dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


FORMS: Mapping[str, Form] = {
    "bib": Form("application/x-bibtex; charset=utf-8", "BibTeX", bibtex),
    "csl.json": Form("application/vnd.citationstyles.csl+json", "CSL-JSON", csl),
    "ris": Form("application/x-research-info-systems; charset=utf-8", "RIS", ris),
    "cff": Form("application/yaml", "CITATION.cff", cff),
    "datacite.json": Form("application/vnd.datacite.datacite+json", "DataCite JSON", datacite),
    "xml": Form("application/xml", "RFCXML", lambda work: written(reference_element(reference(work)))),
    "yaml": Form("application/yaml", "kramdown-rfc", lambda work: reference_block(reference(work)) + "\n"),
}
"""Forms by the suffix of their address."""
