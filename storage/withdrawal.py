"""What is a site's in the tables, and what names it elsewhere: SQL that PostgreSQL and DuckDB read alike.

Rows of a withdrawn site's own visits go. In the rows of other sites' visits that name it the names are replaced and the
sizes stay, so that sums over those pages stay true.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy import Text

from schema.tables import Base, Connection, Response, Visit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
KEY = re.compile(r"[0-9a-f]{32,}")

HOSTS: Mapping[str, str] = {
    Visit.__tablename__: "final_host",
    Connection.__tablename__: "host",
    Response.__tablename__: "host",
}
"""By table, the column with a host that may be the withdrawn site's in a row of another site's visit."""

EMPTIED = {"path": "''", "query_hash": "NULL"}
"""Columns that say more of a response whose host is replaced, and what they become."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawal:
    """A site that is erased, and the key from which the names in its place are made."""

    host: str
    """In lower-case A-label form; all hosts below it are its too."""
    key: str
    """Random and thrown away afterwards: then nobody can compute the names again."""

    def __post_init__(self) -> None:
        """Both stand in SQL as literals: a ValueError for what could be more than one."""
        if not HOST.fullmatch(self.host) or not KEY.fullmatch(self.key):
            raise ValueError(f"{self.host!r} is no host in A-label form, or its key is not hexadecimal")

    @property
    def spellings(self) -> tuple[str, ...]:
        """The host's name as A-labels and, if it has others, as U-labels, plain and percent-encoded."""
        try:
            unicode = self.host.encode("ascii").decode("idna")
        except UnicodeError:
            unicode = self.host
        return tuple(dict.fromkeys((self.host, unicode, quote(unicode).lower())))

    @property
    def pattern(self) -> str:
        """A regular expression that finds the name in lower-case text, not as a part of a longer word."""
        names = "|".join(map(re.escape, self.spellings))
        return f"(^|[^a-z0-9])({names})([^a-z0-9]|$)"

    def is_own(self, column: str) -> str:
        """SQL: whether a host is the site's or lies below it."""
        host = f"rtrim(lower({column}), '.')"
        return f"({host} = '{self.host}' OR right({host}, {len(self.host) + 1}) = '.{self.host}')"

    def is_in(self, column: str) -> str:
        """SQL: whether the site's labels stand in a host, e.g. also in that of a host made for it by a CDN."""
        return f"(strpos('.' || lower({column}) || '.', '.{self.host}.') > 0)"

    def is_named(self, column: str, *, matches: str) -> str:
        """SQL: whether text names the site; `matches` is the server's function of text and pattern."""
        return f"{matches}(lower({column}), {_literal(self.pattern)})"

    def replaced(self, column: str) -> str:
        """SQL: a name in place of another, the same for the same, from which nobody can tell the other."""
        return f"'erased-' || left(md5('{self.key}' || lower({column})), 16) || '.invalid'"

    def changes(self, table: str, columns: Collection[str], *, matches: str) -> dict[str, str]:
        """SQL expressions by column for rows that stay: what the column becomes."""
        host = HOSTS[table]
        hidden = self.is_in(host)
        made = {host: _unless(hidden, self.replaced(host), host)}
        for column in _others(table, columns):
            named = self.is_named(column, matches=matches)
            if column == "remote_address":
                made[column] = _unless(hidden, self.replaced(column), column)
            elif column in EMPTIED:
                made[column] = _unless(f"{hidden} OR {named}", EMPTIED[column], column)
            else:
                made[column] = _unless(named, "'erased'", column)
        return made

    def is_touched(self, table: str, columns: Collection[str], *, matches: str) -> str:
        """SQL: whether a row of another site's visit names this one anywhere."""
        named = [self.is_named(column, matches=matches) for column in _others(table, columns)]
        return f"({' OR '.join([self.is_in(HOSTS[table]), *named])})"


def _others(table: str, columns: Collection[str]) -> list[str]:
    """Text in `columns` beside hosts: the visited site's own is never another site's."""
    declared = Base.metadata.tables[table].columns
    hosts = {HOSTS[table], "host"}
    return [
        c.name for c in declared if isinstance(c.type, Text) and c.name in columns and c.name not in hosts
    ]


def _unless(condition: str, then: str, column: str) -> str:
    return f"CASE WHEN {condition} THEN {then} ELSE {column} END"


def _literal(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"
