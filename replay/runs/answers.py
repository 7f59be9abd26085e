"""The player's answers of one job, kept small: a replay has hundreds of thousands."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any


class Answers(MutableMapping[str, dict[str, Any]]):
    """Answers by cell id. An answer of whole numbers is kept as an array of them, beside names that all such answers share."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._kept: dict[str, tuple[tuple[str, ...], Sequence[Any]]] = {}

    def __getitem__(self, cell: str) -> dict[str, Any]:
        """The answer of a cell; KeyError if there is none."""
        names, values = self._kept[cell]
        return dict(zip(names, values, strict=True))

    def __setitem__(self, cell: str, answer: dict[str, Any]) -> None:
        """Keep an answer."""
        names = tuple(answer)
        whole = all(type(value) is int for value in answer.values())
        values: Sequence[Any] = array("q", answer.values()) if whole else tuple(answer.values())
        self._kept[cell] = (self._names.setdefault(names, names), values)

    def __delitem__(self, cell: str) -> None:
        """Forget an answer; KeyError if there is none."""
        del self._kept[cell]

    def __contains__(self, cell: object) -> bool:
        """Return whether there is an answer of this cell."""
        return cell in self._kept

    def __iter__(self) -> Iterator[str]:
        """Iterate over the cells with an answer."""
        return iter(self._kept)

    def __len__(self) -> int:
        """Number of answers."""
        return len(self._kept)
