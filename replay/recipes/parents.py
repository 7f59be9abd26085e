"""Parents: which response must come before which, from a release's redirects and initiators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"


def find_parents(responses: Sequence[Row], kept: set[int], document: int) -> dict[int, int | None]:
    """The parent of each kept response: the kept response that must arrive first; None at the start of the load.

    The parent is the redirect or the initiator. If that was left out, its own parent counts. The parent of a response
    without either is the document, unless the response came before it.
    """
    initiators = {row["id"]: row["redirected_from_id"] or row["initiator_id"] for row in responses}
    parents: dict[int, int | None] = {}
    for response in sorted(kept):
        seen = {response}
        parent = initiators[response]
        while parent is not None and parent not in kept and parent not in seen:
            seen.add(parent)
            parent = initiators.get(parent)
        if parent is None or parent in seen:
            parent = document if response > document else None
        parents[response] = parent
    return without_cycles(parents, document)


def without_cycles(parents: dict[int, int | None], document: int) -> dict[int, int | None]:
    """Break cycles of parents, whose responses would never be requested."""
    whole = dict(parents)
    for response in sorted(whole):
        seen: set[int] = set()
        step: int | None = response
        while step is not None and step not in seen:
            seen.add(step)
            step = whole[step]
        if step is not None:
            whole[response] = None if response == document or document in seen else document
    return whole
