"""Responses that block rendering: the browser paints nothing before the last byte of each is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"

BLOCKING = "blocking"
"""Value of the column `render_blocking` of responses that the whole page waits for."""


def blocks_rendering(row: Row, parent: int | None, document: int) -> bool:
    """Return whether a response blocks rendering, as the browser decided when it asked for it.

    Where that was not recorded, style sheets that the main document leads to are taken to block (HTML standard, "render-blocking
    mechanism"). A script blocks or not by attributes of the markup, which recordings do not keep: such scripts count as not blocking.

    >>> blocks_rendering({"render_blocking": "non_blocking", "resource_type": "style"}, 1, 1)
    False
    >>> blocks_rendering({"render_blocking": None, "resource_type": "style"}, 1, 1)
    True
    """
    decided = row.get("render_blocking")
    if decided is not None:
        return bool(decided == BLOCKING)
    return row.get("resource_type") == "style" and parent == document
