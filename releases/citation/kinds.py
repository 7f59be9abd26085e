"""Kinds of works that are cited, and the names that each form of a citation has for them."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

Kind = Literal["dataset", "report"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """How the forms name a kind of work."""

    bibtex: str
    publisher: str
    """Field of BibTeX with the publisher."""
    csl: str
    cff: str
    """Type of CITATION.cff, which knows data and software alone."""
    preferred: str = ""
    """Type of the preferred citation of CITATION.cff; empty if `cff` says it."""


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
"""Names by the kind of a work."""
