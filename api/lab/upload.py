"""Reads the lab's form: a HAR file of bounded size, in memory alone, and the networks that were chosen."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Callable
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from api.http.problems import Problem
from api.lab.networks import MOST_CHOSEN, choose

MOST_BYTES = 20_000_000

ROOM_BYTES = 20_000

UPLOAD_S = 120.0

PIECE_BYTES, PIECE_S = 160_000, 5.0
"""Least rate, 256 kbit/s, until an upload ends."""

HAR_FIELD, NETWORK_FIELD = "har", "network"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """What the form holds."""

    content: bytes
    networks: tuple[str, ...]


class InMemory(MultiPartParser):
    """Starlette's parser, which would write files of more than 1 MB to a disk."""

    spool_max_size = MOST_BYTES + ROOM_BYTES

    def close(self) -> None:
        """Close all files, also one without an end."""
        for file in self._files_to_close_on_error:
            file.close()


def refuse_other_sites(request: Request) -> None:
    """Refuse a form that another site's page sends in a reader's name.

    Browsers state the relation by Sec-Fetch-Site, over plain HTTP by Origin; programs by neither.
    """
    relation = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if relation is not None:
        is_own = relation in ("same-origin", "none")
    else:
        is_own = origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not is_own:
        raise Problem(
            "cross-site", "the lab takes files from its own form alone, not from pages of other sites"
        )


async def read_upload(
    request: Request, count: Callable[[int], None], *, within_s: float = UPLOAD_S, piece_s: float = PIECE_S
) -> Upload:
    """The form; Problem if it is too large, too slow, malformed or in part. `count` is told of each piece."""
    if int(request.headers.get("content-length") or 0) > MOST_BYTES + ROOM_BYTES:
        raise too_large()
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise malformed("it is no multipart/form-data")
    body = read_bounded(request, count, piece_s)
    parser = InMemory(request.headers, body, max_files=1, max_fields=20, max_part_size=1000)
    try:
        async with asyncio.timeout(within_s):
            return await check_form(await parser.parse())
    except MultiPartException as exc:
        raise malformed(exc.message) from exc
    except ClientDisconnect as exc:
        raise malformed("it was broken off") from exc
    except TimeoutError as exc:
        least_kbps = 8 * PIECE_BYTES / piece_s / 1000
        raise malformed(
            f"it did not arrive within {within_s:.0f} s, or slower than {least_kbps:.0f} kbit/s"
        ) from exc
    finally:
        parser.close()


async def read_bounded(
    request: Request, count: Callable[[int], None], piece_s: float
) -> AsyncGenerator[bytes, None]:
    """The body by pieces; Problem if too large, TimeoutError if too slow."""
    loop = asyncio.get_running_loop()
    body, size, due, due_at = request.stream(), 0, PIECE_BYTES, loop.time() + piece_s
    while True:
        async with asyncio.timeout_at(due_at):
            piece = await anext(body, None)
        if piece is None:
            return
        size += len(piece)
        if size > MOST_BYTES + ROOM_BYTES:
            raise too_large()
        count(len(piece))
        if size >= due:
            due, due_at = size + PIECE_BYTES, loop.time() + piece_s
        yield piece


async def check_form(form: FormData) -> Upload:
    for name in form:
        if name not in (HAR_FIELD, NETWORK_FIELD):
            raise Problem("unknown-parameter", f"the form takes {HAR_FIELD} and {NETWORK_FIELD} alone")
    file = form.get(HAR_FIELD)
    content = await file.read() if isinstance(file, UploadFile) else b""
    if not content:
        raise Problem(
            "not-a-recording", f"no file was given, or it is empty: give a HAR in the field {HAR_FIELD}"
        )
    if len(content) > MOST_BYTES:
        raise too_large()
    try:
        networks = choose([str(value) for value in form.getlist(NETWORK_FIELD)])
    except ValueError as exc:
        raise Problem("bad-parameter", f"{exc}, in the field {NETWORK_FIELD}; at most {MOST_CHOSEN}") from exc
    return Upload(content=content, networks=tuple(network.profile.id for network in networks))


def too_large() -> Problem:
    return Problem(
        "too-large",
        f"the file has more than {MOST_BYTES // 10**6} MB: save the HAR without the content of responses",
        headers={"Connection": "close"},
    )


def malformed(why: str) -> Problem:
    return Problem(
        "bad-request", f"the form cannot be read: {why.rstrip('.')}", headers={"Connection": "close"}
    )
