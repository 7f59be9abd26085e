"""Page recipes from HAR files and CDP logs: exchanges become the rows of a release, then a recipe.

Only the first page of a recording is read: later pages were loaded with a warm cache.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recordings.errors import RecordingError
from recordings.exchange import RecordedExchange
from recordings.files.reading import read_file
from recordings.files.traffic import port_of
from recordings.order import find_parents, first_load, kind_of
from replay.errors import RecipeError
from replay.recipes.page_recipe import Recipe, assume_think_times, make_recipe
from replay.recipes.release_rows import Row
from schema import http_caching

H2_FRAME_BYTES, H2_FRAME_HEADER_BYTES = 16_384, 9
"""Default maximum of an HTTP/2 frame's payload, and the size of its header (RFC 9113 §4)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """The page of a recording, and what was estimated or repaired."""

    recipe: Recipe
    file: str
    sha256: str
    kind: str
    tool: str
    headers_estimated: int
    """Number of responses whose header size is that of its uncompressed text."""
    repairs: dict[str, int]
    """Number of exchanges left out or repaired, by reason."""

    def to_dict(self) -> dict[str, Any]:
        """The recording's entry in replay.json."""
        return {
            "page": self.recipe.page,
            "file": self.file,
            "sha256": self.sha256,
            "kind": self.kind,
            "tool": self.tool,
            "sizes": "bodies and headers as the recording has them; TLS flights and requests assumed",
            "headers_estimated": self.headers_estimated,
            "repairs": self.repairs,
        }


def read_recordings(hars: Sequence[Path], logs: Sequence[Path]) -> list[Recorded]:
    """Read the page of each file.

    RecipeError if a file is no recording or holds no page that can be replayed.
    """
    files = [*((path, "har") for path in hars), *((path, "cdp") for path in logs)]
    return [read_recording(path, kind, number) for number, (path, kind) in enumerate(files, start=1)]


def read_recording(path: Path, kind: str, number: int) -> Recorded:
    """Read the page of one file, gzipped or not; `number` becomes the visit id."""
    try:
        file = read_file(path, kind)
    except RecordingError as exc:
        raise RecipeError(str(exc)) from exc
    kept, repairs = first_load(file.exchanges, by_silence=file.splits_by_silence)
    recipe = recipe_of(kept, number)
    if recipe is None:
        raise RecipeError(f"{path}: no main document of known size, so no page that can be replayed")
    repairs.update(repair for one in kept for repair in one.repairs)
    if file.later_pages:
        repairs["later_page_dropped"] = file.later_pages
    return Recorded(
        recipe=recipe,
        file=path.name,
        sha256=file.sha256,
        kind=kind,
        tool=file.tool,
        headers_estimated=sum(one.body_bytes is not None and one.header_bytes is None for one in kept),
        repairs=dict(sorted(repairs.items())),
    )


def recipe_of(kept: Sequence[RecordedExchange], number: int) -> Recipe | None:
    """The recipe of a page load; None without a main document of known size."""
    main = next((index for index, one in enumerate(kept) if not one.is_redirect), None)
    if main is None:
        return None
    visit = {"id": number, "host": kept[main].host, "main_response_id": main + 1}
    connections, places = connection_rows(kept)
    recipe = make_recipe(visit, connections, response_rows(kept, places))
    return recipe and assume_think_times([recipe])[0]


def response_rows(kept: Sequence[RecordedExchange], connections: Sequence[int]) -> list[Row]:
    """The exchanges as rows of a release's response table."""
    return [
        {
            "id": index + 1,
            "connection_id": connection,
            "host": one.host,
            "from_cache": False,
            "resource_type": kind_of(one),
            "wire_bytes": wire_bytes(one),
            "header_bytes": header_text_bytes(one) if one.header_bytes is None else one.header_bytes,
            "redirected_from_id": above + 1 if above is not None and how == "redirect" else None,
            "initiator_id": above + 1 if above is not None and how != "redirect" else None,
            "began_us": None if one.times.sent is None else round(1e6 * one.started_s),
            "request_sent_us": one.times.sent,
            "first_byte_us": one.times.first_byte,
            "last_byte_us": one.times.last_byte,
            "method": one.method,
            "status": one.status,
            **dataclasses.asdict(http_caching.read(one.status, one.headers)),
            "request_body_bytes": one.request_body_bytes,
        }
        for index, (one, connection, (above, how)) in enumerate(
            zip(kept, connections, find_parents(kept), strict=True)
        )
    ]


def connection_rows(kept: Sequence[RecordedExchange]) -> tuple[list[Row], list[int]]:
    """Rows of a release's connection table, and the connection id of each exchange.

    If a recording names no connections, an origin has one over H2, and each exchange its own over H1.
    """
    rows: dict[tuple[object, ...], dict[str, Any]] = {}
    places = []
    for index, one in enumerate(kept):
        url = urlsplit(one.url)
        port = port_of(one)
        protocol = {"h3": "h3", "h2": "h2", "spdy": "h2"}.get(one.protocol, "http/1.1")
        own: tuple[object, ...] = (index,) if protocol == "http/1.1" else ()
        key = (one.connection, protocol) if one.connection else (url.hostname, port, protocol, *own)
        row = rows.setdefault(
            key,
            {
                "id": len(rows) + 1,
                "host": one.host,
                "port": port,
                "protocol": protocol,
                "tls_version": "unknown" if url.scheme == "https" else None,
                "tls_handshake_bytes": None,
                "tls_ticket_bytes": None,
                "frame_bytes": 0,
                "remote_address": one.address or one.host,
                "opened_us": None,
                "connected_us": None,
            },
        )
        if row["opened_us"] is None:
            row.update(opened_us=one.times.opened, connected_us=one.times.connected)
        places.append(row["id"])
    return list(rows.values()), places


def wire_bytes(one: RecordedExchange) -> int | None:
    """Size of header, body, and H2 or H3 framing; None if the body's size is unknown."""
    if one.body_bytes is None:
        return None
    header = header_text_bytes(one) if one.header_bytes is None else one.header_bytes
    framed = one.protocol in ("spdy", "h2", "h3")
    frames = (1 + -(-one.body_bytes // H2_FRAME_BYTES)) if framed else 0
    return header + one.body_bytes + frames * H2_FRAME_HEADER_BYTES


def header_text_bytes(one: RecordedExchange) -> int:
    """Size of the header as HTTP/1.1 text: an upper bound for compressed headers."""
    status_line = len(f"HTTP/1.1 {one.status} OK\r\n")
    return status_line + sum(len(name) + len(value) + 4 for name, value in one.headers.items()) + 2
