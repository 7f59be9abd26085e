"""SQL for PostgreSQL and DuckDB that finds the rows of a site to erase and replaces its name in other rows.

Rows of the site's own visits are deleted. In rows of other sites' visits its name is replaced and the sizes
stay, so that sums over those pages stay correct.
"""

import dataclasses
import re
from collections.abc import Mapping
from urllib.parse import quote

import pyarrow as pa

from schema.released_tables import released_tables

HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
KEY = re.compile(r"[0-9a-f]{32,}")

HOSTS: Mapping[str, str] = {
    "visit": "final_host",
    "connection": "host",
    "response": "host",
}
"""Column of each table that may hold the site's host in rows of other sites' visits."""

EMPTIED = {"path": "''", "query_hash": "NULL"}
"""Columns that are emptied in a response whose host is replaced, with their new values."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ErasedSite:
    """A site to erase, and the key from which its replacement names are derived."""

    host: str
    """The site in lower-case A-label form; all hosts below it belong to it."""
    key: str
    """Random, and discarded afterwards, so that the names cannot be computed again."""

    def __post_init__(self) -> None:
        """Validate both, which become literals in SQL."""
        if not HOST.fullmatch(self.host) or not KEY.fullmatch(self.key):
            raise ValueError(f"{self.host!r} is no host in A-label form, or its key is not hexadecimal")

    @property
    def spellings(self) -> tuple[str, ...]:
        """The host's name as A-labels, and as U-labels, plain and percent-encoded, where they differ."""
        try:
            unicode = self.host.encode("ascii").decode("idna")
        except UnicodeError:
            unicode = self.host
        return tuple(dict.fromkeys((self.host, unicode, quote(unicode).lower())))

    @property
    def pattern(self) -> str:
        """Regular expression for the name as a whole word in lower-case text."""
        names = "|".join(map(re.escape, self.spellings))
        return f"(^|[^a-z0-9])({names})([^a-z0-9]|$)"

    def is_own(self, column: str) -> str:
        """Return a SQL condition: the host is the site or below it."""
        host = f"rtrim(lower({column}), '.')"
        return f"({host} = '{self.host}' OR right({host}, {len(self.host) + 1}) = '.{self.host}')"

    def is_in(self, column: str) -> str:
        """Return a SQL condition: the site's labels occur in the host, as in a CDN's host for the site."""
        return f"(strpos('.' || lower({column}) || '.', '.{self.host}.') > 0)"

    def is_named(self, column: str, *, matches: str) -> str:
        """Return a SQL condition: the text names the site, by the server's function `matches`."""
        return f"{matches}(lower({column}), {_literal(self.pattern)})"

    def replaced(self, column: str) -> str:
        """Return SQL for a name in place of another, equal for equal names, that does not reveal it."""
        return f"'erased-' || left(md5('{self.key}' || lower({column})), 16) || '.invalid'"

    def changes(self, table: str, *, matches: str) -> dict[str, str]:
        """Return SQL of new values by column, for rows that stay."""
        host = HOSTS[table]
        hidden = self.is_in(host)
        made = {host: _unless(hidden, self.replaced(host), host)}
        for column in _others(table):
            named = self.is_named(column, matches=matches)
            if column == "remote_address":
                made[column] = _unless(hidden, self.replaced(column), column)
            elif column in EMPTIED:
                made[column] = _unless(f"{hidden} OR {named}", EMPTIED[column], column)
            else:
                made[column] = _unless(named, "'erased'", column)
        return made

    def is_touched(self, table: str, *, matches: str) -> str:
        """Return a SQL condition: a row of another site's visit names this site in any column."""
        named = [self.is_named(column, matches=matches) for column in _others(table)]
        return f"({' OR '.join([self.is_in(HOSTS[table]), *named])})"


def _others(table: str) -> list[str]:
    """Return the text columns of a table without hosts: a site's own host is never another site's."""
    hosts = {HOSTS[table], "host"}
    return [
        field.name
        for field in released_tables()[table].schema
        if field.type == pa.string() and field.name not in hosts
    ]


def _unless(condition: str, then: str, column: str) -> str:
    return f"CASE WHEN {condition} THEN {then} ELSE {column} END"


def _literal(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"
