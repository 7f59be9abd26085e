"""What a reader takes from a figure: the rows that it counts, and programs that compute its shares again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from urllib.parse import urlencode

from fastapi import Request

from api.explorer.choice import OF_CRAWLS
from api.explorer.comparison import Panel
from api.http.links import link
from api.rows.query import TABLES
from api.stored.shelf import Version
from releases.strata.cells import COUNTED
from releases.strata.sample import DIMENSION_LABELS

ITEMS = "item.parquet"

SHARES = """
    SELECT measure, {by}iw, avg((size_bytes <= iw * {mss})::INTEGER) AS share, count(*) AS items
    FROM read_parquet({file}), (VALUES {windows}) AS windows(iw)
    WHERE size_bytes IS NOT NULL AND measure IN ({measures}){stratum}
    GROUP BY ALL ORDER BY ALL
"""

NUMBERS = """
    SELECT {by}quantile_disc({unit}, 0.5) AS median, quantile_disc({unit}, 0.95) AS p95, count(*) AS pages
    FROM (
        SELECT rank, rank_stratum, count(*) AS {unit} FROM read_parquet({file})
        WHERE measure IN ({measures}){stratum}
        GROUP BY ALL
    ) GROUP BY ALL ORDER BY ALL
"""

PYTHON = '''# pip install duckdb pandas
import urllib.request

import duckdb
import pandas

releases = {{
{releases}
}}
shares = """{shares}"""
tables = {{}}
for release, address in releases.items():
    file, _ = urllib.request.urlretrieve(address)
    tables[release] = duckdb.execute(shares, {{"file": file}}).df()
table = pandas.concat(tables, names=["release"]).droplevel(1).reset_index()
print(table.to_string(index=False))
'''

R = """# install.packages("duckdb")
library(duckdb)

releases <- c(
{releases}
)
shares <- "{shares}"
connection <- dbConnect(duckdb())
tables <- lapply(names(releases), function(release) {{
  file <- tempfile(fileext = ".parquet")
  download.file(releases[[release]], file, mode = "wb", quiet = TRUE)
  cbind(release = release, dbGetQuery(connection, sprintf(shares, file)))
}})
dbDisconnect(connection, shutdown = TRUE)
print(do.call(rbind, tables))
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CountedRows:
    """Rows of a table of a release, filtered as far as the table has the columns."""

    version: Version
    table: str
    query: str
    unfiltered: tuple[str, ...]
    """Dimensions of the choice that the table lacks."""


def table_of(measure: str) -> str:
    """Return the table whose rows a measure counts.

    >>> table_of("responses_first"), table_of("requests"), table_of("tls_flights"), table_of("pages")
    ('responses', 'responses', 'connections', 'visits')
    """
    if measure == "pages":
        return "visits"
    return "responses" if measure.startswith(("responses", "requests")) else "connections"


def rows_of(panel: Panel) -> Iterator[CountedRows]:
    fixed = panel.choice.stratum.parameters()
    versions = {curve.line.version.name: curve.line.version for curve in panel.curves}
    for version in versions.values():
        for table in dict.fromkeys(map(table_of, panel.measures)):
            columns = TABLES[table].schema().names
            named = {"crawl": str(version.crawl), "version": version.version}
            filters = {name: value for name, value in fixed.items() if name in columns}
            yield CountedRows(
                version=version,
                table=table,
                query=urlencode(named | filters),
                unfiltered=tuple(DIMENSION_LABELS.get(name, name) for name in fixed if name not in columns),
            )


def write_programs(request: Request, panel: Panel) -> dict[str, str]:
    """Return programs that compute a figure's shares from its items, by language."""
    choice = panel.choice
    versions = {curve.line.version.name: curve.line.version for curve in panel.curves}
    addresses = [
        (name, link(request, "release_file", **version.key, name=ITEMS))
        for name, version in versions.items()
        if ITEMS in version.files
    ]
    if not addresses:
        return {}
    fixed = {"page_kind": "home"} | choice.stratum.parameters()
    by = "" if choice.by in ("release", *OF_CRAWLS) else choice.by
    conditions = [
        f"{name} = {value if isinstance(value, int) else repr(value)}"
        for name, value in fixed.items()
        if name != by
    ]
    conditions += [f"{by} IS NOT NULL"] if by else []
    parts = {
        "by": f"{by}, " if by else "",
        "unit": panel.unit,
        "mss": choice.mss,
        "windows": ", ".join(f"({iw})" for iw in choice.windows),
        "measures": ", ".join(f"'{name}'" for each in panel.measures for name in COUNTED.get(each, (each,))),
        "stratum": "".join(f"\n        AND {condition}" for condition in conditions),
    }
    query = SHARES if panel.unit == "bytes" else NUMBERS
    pairs = [(json.dumps(name), json.dumps(address)) for name, address in addresses]
    return {
        "Python": PYTHON.format(
            releases="\n".join(f"    {name}: {address}," for name, address in pairs),
            shares=query.format(file="$file", **parts),
        ),
        "R": R.format(
            releases=",\n".join(f"  {name} = {address}" for name, address in pairs),
            shares=query.format(file="'%s'", **parts),
        ),
    }
