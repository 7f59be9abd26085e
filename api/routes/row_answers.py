"""Answers with rows: a page that is held whole, or a stream that is not."""

import contextlib
from collections.abc import Iterator

import pyarrow as pa
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel, Field

from api.formats.encoding import cut_line, encoded, json_rows
from api.formats.offered import CSV, JSON, Format
from api.formats.streaming import Pieces, Stream, StreamBroken
from api.http.etags import CACHE_CONTROL, is_known, not_modified
from api.http.links import link_header, own_link, relate, relate_help_with_csv
from api.http.problems import Problem
from api.routes.answers import Provenance
from api.routes.provenance import provenance
from api.routes.remembered import Answer, Memory
from api.routes.v1 import with_json
from api.rows.cursors import Key, cursor_of
from api.rows.query import Question, Rendering, Rows, RowsUnreadable
from api.rows.reader import RowReader, unreadable
from api.stored.shelf import Version

RENDERINGS: dict[str, Rendering] = {"json": "json", "ndjson": "json", "csv": "text"}
"""How rows are read for a format; as Arrow for the others."""


class RowsAnswer(BaseModel):
    """A page of rows."""

    provenance: Provenance
    next: str | None = Field(description="URL of the page after this one; null after the last row")


def bound_to(version: Version, question: Question) -> list[object]:
    """What a cursor is bound to: the release, the table and the filters."""
    return [version.checksum, question.table.name, question.filters.facts]


async def rows_answer(request: Request, version: Version, question: Question, wanted: Format) -> Response:
    """The answer in the format that is wanted: a page if the question has a limit, else a stream."""
    memory: Memory = request.app.state.memory
    key = memory.key(request.scope["shelf"], request.scope)
    tags = request.headers.get("if-none-match", "")
    if is_known(tags, f'"{key}"') or tags.strip() == "*":
        return not_modified(f'"{key}"')
    if question.limit is None:
        return await _stream(request, version, question, wanted, key)

    async def computed() -> Answer:
        page = await run_in_threadpool(_page, request, version, question, wanted)
        return Answer.of(page, route=request.scope["route"].path, key=key)

    return (await memory.answer(key, computed)).response()


def _next(request: Request, version: Version, question: Question, after: Key) -> str:
    cursor = cursor_of(after, bound_to=bound_to(version, question))
    return own_link(request, crawl=version.crawl, version=version.version, cursor=cursor)


def _opened(request: Request, version: Version, question: Question, wanted: Format) -> Rows:
    reader: RowReader = request.app.state.rows
    try:
        return reader.rows(version, question, RENDERINGS.get(wanted.suffix, "arrow"))
    except RowsUnreadable as exc:
        raise unreadable(exc) from exc


def _page(request: Request, version: Version, question: Question, wanted: Format) -> Response:
    assert question.limit is not None
    rows = _opened(request, version, question, wanted)
    try:
        batches, last = rows.page(question.limit)
    except RowsUnreadable as exc:
        raise unreadable(exc) from exc
    finally:
        rows.close()
    following = None if last is None else _next(request, version, question, last)
    if following is not None:
        relate(request, "next", following)
    if wanted == JSON:
        answer = RowsAnswer(provenance=provenance(request, version), next=following)
        body = with_json(answer, rows=f"[{','.join(json_rows(batches))}]").encode()
    else:
        body = b"".join(encoded(wanted, batches, rows.schema))
    return Response(body, headers=_headers(request, version, question, wanted), media_type=wanted.media_type)


async def _stream(
    request: Request, version: Version, question: Question, wanted: Format, key: str
) -> Response:
    reader: RowReader = request.app.state.rows
    with contextlib.ExitStack() as opened:
        reader.begin_stream()
        opened.callback(reader.end_stream)
        rows = await run_in_threadpool(_opened, request, version, question, wanted)
        opened.callback(rows.close)
        closed = opened.pop_all().close
    return Stream(
        _pieces(request, version, wanted, rows),
        media_type=wanted.media_type,
        headers=_headers(request, version, question, wanted)
        | {"ETag": f'"{key}"', "Cache-Control": CACHE_CONTROL},
        closed=closed,
    )


def _pieces(request: Request, version: Version, wanted: Format, rows: Rows) -> Pieces:
    """The bytes of a stream, which ends with its reason if the release is withdrawn or damaged meanwhile."""
    reader: RowReader = request.app.state.rows

    def checked() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            reader.check(version)
            yield batch

    try:
        yield from encoded(wanted, checked(), rows.schema)
    except (Problem, RowsUnreadable) as exc:
        problem = exc if isinstance(exc, Problem) else unreadable(exc)
        yield cut_line(wanted, problem)
        raise StreamBroken from exc


def _headers(request: Request, version: Version, question: Question, wanted: Format) -> dict[str, str]:
    if wanted == CSV:
        relate_help_with_csv(request)
    headers = {"Link": link_header(request)}
    if wanted != JSON:
        name = f"{version.crawl}.v{version.version}.{question.table.name}.{wanted.suffix}"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return headers
