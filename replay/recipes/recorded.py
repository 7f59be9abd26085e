"""Page recipes from HAR files and logs of DevTools events: the rows of a release,
with estimates of sizes that no row may have.

Only one page of a recording is read: later pages were loaded with a warm cache.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recordings.exchange import RecordedExchange, RecordingError
from recordings.page import PageLoad
from recordings.reading import read_file
from recordings.rows import first_moment_us, page_rows
from recordings.sizes import CONTRADICTORY, TEXTUAL
from replay.errors import RecipeError
from replay.recipes.page_recipe import Recipe, assume_think_times, make_recipe
from replay.recipes.release_rows import Row
from schema.released_tables import released_tables

H2_FRAME_BYTES, H2_FRAME_HEADER_BYTES = 16_384, 9
"""Default maximum of an HTTP/2 frame's payload, and the size of its header (RFC 9113 §4)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """The page of a recording, and what was estimated or left out."""

    recipe: Recipe
    file: str
    sha256: str
    kind: str
    tool: str
    sizes_estimated: int
    """Responses whose header was not counted: its uncompressed text bounds it."""
    left_out: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "page": self.recipe.page,
            "file": self.file,
            "sha256": self.sha256,
            "kind": self.kind,
            "tool": self.tool,
            "sizes": "as the recording has them; headers that were not counted by their text; TLS "
            "flights and requests assumed",
            "sizes_estimated": self.sizes_estimated,
            "left_out": self.left_out,
        }


def read_recordings(hars: Sequence[Path], logs: Sequence[Path]) -> list[Recorded]:
    """Read the page of each file; RecipeError if a file has none that can be replayed."""
    files = [*((path, "har") for path in hars), *((path, "cdp") for path in logs)]
    return [read_recording(path, kind, number) for number, (path, kind) in enumerate(files, start=1)]


def read_recording(path: Path, kind: str, number: int) -> Recorded:
    try:
        file = read_file(path, kind)
    except RecordingError as exc:
        raise RecipeError(str(exc)) from exc
    recipe = recipe_of(file.load, number)
    if recipe is None:
        raise RecipeError(f"{file.name}: no main document of known size, so no page that can be replayed")
    return Recorded(
        recipe=recipe,
        file=file.name,
        sha256=file.sha256,
        kind=kind,
        tool=file.tool,
        sizes_estimated=sum(
            exchange.sizes.wire_bytes is None and estimated_bytes(exchange) is not None
            for exchange in file.load.exchanges
        ),
        left_out=dict(sorted(file.load.left_out.items())),
    )


def recipe_of(load: PageLoad, number: int) -> Recipe | None:
    """Return a page load's recipe; None without a main document of known size."""
    if load.main is None:
        return None
    rows = page_rows(load, number)
    visit = {"id": number, "host": load.host, "main_response_id": load.main + 1}
    base_us = first_moment_us(load.exchanges)
    responses = [
        {**with_estimate(row, exchange), "began_us": began_us(exchange, base_us)}
        for row, exchange in zip(rows.responses, load.exchanges, strict=True)
    ]
    recipe = make_recipe(visit, [complete_row("connection", row) for row in rows.connections], responses)
    return recipe and assume_think_times([recipe])[0]


def with_estimate(row: Row, exchange: RecordedExchange) -> Row:
    completed = complete_row("response", row)
    if completed["wire_bytes"] is None and (estimate := estimated_bytes(exchange)) is not None:
        completed |= {"wire_bytes": estimate, "header_bytes": exchange.header_text_bytes}
    return completed


def began_us(exchange: RecordedExchange, base_us: int) -> int | None:
    """Return when the browser began a request, in µs since the page's first."""
    return None if exchange.times.sent is None else round(1e6 * exchange.started_s) - base_us


def complete_row(table: str, row: Row) -> dict[str, Any]:
    return dict.fromkeys(released_tables()[table].schema.names) | dict(row)


def estimated_bytes(exchange: RecordedExchange) -> int | None:
    """Return a body's size with its header's text, and frames; None if either is unknown."""
    body, header = exchange.sizes.body_bytes, exchange.header_text_bytes
    if body is None or header is None or exchange.sizes.wire_bytes_unknown == CONTRADICTORY:
        return None
    frames = 0 if exchange.protocol in TEXTUAL or not exchange.protocol else 1 + -(-body // H2_FRAME_BYTES)
    return header + body + frames * H2_FRAME_HEADER_BYTES
