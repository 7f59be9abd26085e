"""Requests of low priority, which Chromium may hold back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"

LOW_URGENCY = 2
"""Urgency from which on Chromium may hold a request back: it states its priorities HIGHEST, MEDIUM, LOW, LOWEST and IDLE as 0 to 4."""

LOW_PRIORITY = frozenset({"image", "audio", "video", "media", "track"})
"""Types whose requests mostly have a low priority in Chromium; scripts have it if they are asynchronous, which their type does not tell."""


def is_delayable(row: Row) -> bool:
    """Return whether Chromium gives a request one of its three low priorities, from its urgency or else its type.

    >>> is_delayable({"urgency": 1, "resource_type": "image"}), is_delayable({"urgency": None, "resource_type": "image"})
    (False, True)
    """
    if row.get("urgency") is None:
        return row.get("resource_type") in LOW_PRIORITY
    return bool(row["urgency"] >= LOW_URGENCY)
