"""What a reader takes away from the explorer with the same choice: rows, a program, and citations."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from fastapi import Request

from api.http.links import link
from api.routes.strata import Asked
from api.routes.works import forms_of, release_work
from api.rows.query import TABLES
from api.stored.shelf import Version

ITEMS = "item.parquet"
"""File of a release with every item that its distributions count."""

CALL = '''# pip install duckdb pandas
import urllib.request

import duckdb
import pandas

releases = {{
{releases}
}}
shares = """
    SELECT measure, iw, avg((size_bytes <= iw * {mss})::INTEGER) AS share, count(*) AS items
    FROM read_parquet($file), (VALUES {windows}) AS windows(iw)
    WHERE size_bytes IS NOT NULL AND measure IN ({measures}){stratum}
    GROUP BY ALL ORDER BY ALL
"""
found = {{}}
for release, address in releases.items():
    file, _ = urllib.request.urlretrieve(address)
    found[release] = duckdb.execute(shares, {{"file": file}}).df()
table = pandas.concat(found, names=["release"]).droplevel(1).reset_index()
print(table.to_string(index=False))
'''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Rows of a table of a release, filtered as far as the table has the columns."""

    version: Version
    table: str
    query: str
    unfiltered: tuple[str, ...]
    """Dimensions of the choice that the table does not have."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A release as it is cited."""

    line: str
    forms: tuple[tuple[str, str], ...]
    """Title and address of each form; none if it must not be cited."""


def table_of(measure: str) -> str:
    """The table whose rows a measure counts.

    >>> table_of("responses_first"), table_of("tls_flights"), table_of("pages")
    ('responses', 'connections', 'visits')
    """
    if measure == "pages":
        return "visits"
    return "responses" if measure.startswith("responses") else "connections"


def rows_of(releases: Sequence[Version], measures: Sequence[str], stratum: Asked) -> Iterator[Rows]:
    """Yield the rows of each release and table that the measures count."""
    fixed = stratum.parameters()
    for version in releases:
        for table in dict.fromkeys(map(table_of, measures)):
            columns = TABLES[table].schema().names
            named = {"crawl": str(version.crawl), "version": version.version}
            filters = {name: value for name, value in fixed.items() if name in columns}
            yield Rows(
                version=version,
                table=table,
                query=urlencode(named | filters),
                unfiltered=tuple(name.replace("_", " ") for name in fixed if name not in columns),
            )


def citations_of(request: Request, releases: Sequence[Version]) -> Iterator[Citation]:
    """Yield the citation of each release."""
    for version in releases:
        work = release_work(request, version)
        forms = forms_of(request, work, "cite_release", crawl=str(version.crawl), version=version.version)
        yield Citation(line=work.line if work.is_evidence else work.refusal, forms=forms)


def program(
    request: Request,
    releases: Sequence[Version],
    measures: Sequence[str],
    windows: Sequence[int],
    mss: int,
    stratum: Asked,
) -> str:
    """A program in Python that computes the shares again from the items of the releases that have them; empty
    if none has."""
    addresses = [
        (
            release.name,
            link(request, "release_file", crawl=str(release.crawl), version=release.version, name=ITEMS),
        )
        for release in releases
        if ITEMS in release.files
    ]
    if not addresses:
        return ""
    fixed = {"page_kind": "home"} | stratum.parameters()
    return CALL.format(
        releases="\n".join(f"    {_quoted(name)}: {_quoted(address)}," for name, address in addresses),
        mss=mss,
        windows=", ".join(f"({iw})" for iw in windows),
        measures=", ".join(f"'{measure}'" for measure in measures),
        stratum="".join(
            f"\n        AND {name} = {value if isinstance(value, int) else repr(value)}"
            for name, value in fixed.items()
        ),
    )


def _quoted(text: str) -> str:
    """Text as a literal of Python.

    >>> print(_quoted('2026-11"\\\\'))
    "2026-11\\"\\\\"
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
