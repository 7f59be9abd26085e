"""Compares JSON values and texts: which differ, which only read differently, and which fields were renamed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

BUILD = frozenset(
    {
        "boot_s",
        "checksum",
        "commit",
        "files",
        "path",
        "player",
        "programs",
        "recipe",
        "sha256",
        "signature",
        "wall_s",
    }
)
"""Keys of JSON facts that describe how a file was made, or name it by its bytes; they may differ."""

STANDING = frozenset({"comment", "definition", "description", "glossary", "limits", "source", "title"})
"""Keys of standing texts, which may be reworded freely. Any other text has to keep its numbers."""

NAMED_BY = ("id", "name", "page")
"""Keys by which the items of a list are told apart, whatever their order."""

DIGEST = re.compile(r"\b[0-9a-f]{12,64}\b")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
WALL_TIME = re.compile(r"in [\d.,]+ s(?: of wall time: [\d.,]+ times real time)?\.?$")
"""How long a replay took, at the end of a sentence in reports."""


@dataclass(frozen=True, slots=True)
class Renames:
    """Fields that were deliberately renamed, removed or added."""

    new_names: dict[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Renames:
        """Read lines `old = new`; one side is empty where a field was removed or added.

        >>> Renames.parse("think = server_delay  # said plainly").of("think")
        'server_delay'
        """
        lines = (line.partition("#")[0].strip() for line in text.splitlines())
        pairs = [[side.strip() for side in line.split("=")] for line in lines if line]
        if bad := [pair for pair in pairs if len(pair) != 2]:
            raise ValueError(f"not of the form `old = new`: {' = '.join(bad[0])}")
        return cls(
            {old: new for old, new in pairs if old and new},
            frozenset(old for old, new in pairs if not new),
            frozenset(new for old, new in pairs if not old),
        )

    def of(self, name: str) -> str:
        """The new name of a field."""
        return self.new_names.get(name, name)

    def among(self, names: Sequence[str], name: str) -> str:
        """The new name of a field if it is among these; a name may be kept in one place and changed in another."""
        return self.of(name) if self.of(name) in names else name


@dataclass(slots=True)
class Findings:
    """What a comparison of two tables, or of two files, found."""

    renames: Renames = field(default_factory=Renames)
    rows: int = 0
    values: int = 0
    differences: list[str] = field(default_factory=list)
    reworded: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    """Fields that were renamed, removed or added."""

    def names(self, old: list[str], new: list[str], where: str) -> list[tuple[str, str]]:
        """Pair the names of fields; fields without a partner are differences unless they were declared."""
        partners = {name: self.renames.among(new, name) for name in old}
        pairs = [(name, partner) for name, partner in partners.items() if partner in new]
        self.fields += [f"{where}: {a} is named {b}" for a, b in pairs if a != b]
        gone = [name for name, partner in partners.items() if partner not in new]
        self._unpaired(gone, self.renames.removed, f"{where}: removed")
        came = [name for name in new if name not in partners.values()]
        self._unpaired(came, self.renames.added, f"{where}: added")
        return pairs

    def _unpaired(self, names: list[str], declared: frozenset[str], what: str) -> None:
        for name in names:
            (self.fields if name in declared else self.differences).append(f"{what} {name}")

    def text(self, old: str, new: str, where: str, *, is_standing: bool = False) -> None:
        """Compare two texts: sentences may be reworded as long as they keep their numbers, or are standing ones."""
        self.values += 1
        if masked(old) == masked(new):
            return
        said = f"{where}: {old!r} is now {new!r}"
        is_prose = " " in old.strip() and " " in new.strip()
        if is_standing or (is_prose and NUMBER.findall(masked(old)) == NUMBER.findall(masked(new))):
            self.reworded.append(said)
        else:
            self.differences.append(said)

    def json(self, old: Any, new: Any, where: str = "", *, is_standing: bool = False) -> None:  # noqa: ANN401  # any JSON
        """Compare two JSON values and all values within them."""
        match old, new:
            case dict(), dict():
                for name, renamed in self.names([*old], [*new], where):
                    if name not in BUILD:
                        self.json(
                            old[name],
                            new[renamed],
                            f"{where}.{renamed}",
                            is_standing=is_standing or name in STANDING,
                        )
            case list(), list():
                self._lists(old, new, where, is_standing=is_standing)
            case str(), str():
                is_name = where.endswith(tuple(f".{key}" for key in NAMED_BY))
                named = self.renames.among([new], old) if is_name else old
                self.text(named, new, where, is_standing=is_standing)
            case _:
                self.values += 1
                if not is_equal(old, new):
                    self.differences.append(f"{where}: {old!r} is now {new!r}")

    def _lists(self, old: list[Any], new: list[Any], where: str, *, is_standing: bool) -> None:
        key = next((key for key in NAMED_BY if is_keyed(old, key) and is_keyed(new, key)), None)
        if key is None:
            if len(old) != len(new):
                self.differences.append(f"{where}: {len(old)} items are now {len(new)}")
            for place, (one, other) in enumerate(zip(old, new, strict=False)):
                self.json(one, other, f"{where}[{place}]", is_standing=is_standing)
            return
        before, after = ({str(one[key]): one for one in some} for some in (old, new))
        self.json(before, after, f"{where}[{key}]", is_standing=is_standing)
        self.order([self.renames.among([*after], name) for name in before], [*after], where)

    def order(self, old: list[str], new: list[str], where: str) -> None:
        """Compare the order of what both have."""
        if [name for name in old if name in new] != [name for name in new if name in old]:
            self.differences.append(f"{where}: the order is another")


def is_keyed(items: list[Any], key: str) -> bool:
    """Return whether `key` tells all items apart."""
    names = {str(one[key]) for one in items if isinstance(one, dict) and key in one}
    return len(names) == len(items) > 0


def masked(text: str) -> str:
    """A text without the digests in it, which differ whenever the code does, and without a replay's wall time."""
    return WALL_TIME.sub("", DIGEST.sub("#", text))


def is_equal(old: object, new: object) -> bool:
    """Return whether two values are of one type and the same; a NaN equals a NaN.

    >>> is_equal(1, 1.0), is_equal(float("nan"), float("nan"))
    (False, True)
    """
    if isinstance(old, float) and isinstance(new, float) and math.isnan(old):
        return math.isnan(new)
    return type(old) is type(new) and old == new
