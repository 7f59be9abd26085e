"""`/v1/visits`, `/v1/connections` and `/v1/responses`: rows of a release by typed filters,
as pages or as whole streams."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from typing import Annotated, Any, Literal

import pyarrow as pa
from fastapi import APIRouter, Query, Request
from fastapi.concurrency import iterate_in_threadpool, run_in_threadpool
from fastapi.responses import Response, StreamingResponse
from pydantic import AfterValidator, create_model
from starlette.types import Message, Receive, Scope, Send

from api.computing import Computation, Stopped, in_turn
from api.formats.encoding import cut_line, encoded, json_rows
from api.formats.offered import CSV, FORMATS, JSON, AskedFormat, Format, get_in
from api.http.choices import SEVERAL
from api.http.clients import client_of
from api.http.links import link_header, own_link, relate, relate_help_with_csv
from api.http.problems import Problem
from api.kept_answers import ANY, CACHE_CONTROL, GONE, is_known, not_modified, watch
from api.routes.answers import AnswerModel, Provenance
from api.routes.parameters import PAGE_ROWS, CursorQuery, RowLimitQuery
from api.routes.provenance import AskedRelease, provenance
from api.routes.v1 import with_json
from api.rows.cursors import Key, cursor_of, key_of
from api.rows.filters import filters, parameters, row_fields
from api.rows.query import TABLES, Question, Rendering, Rows, RowTable
from api.service import Placed, service_of
from api.stored.shelf import Version

RENDERINGS: dict[str, Rendering] = {"json": "json", "ndjson": "json", "csv": "text"}

PIECE_BYTES = 64 * 1024

MADE_WITHIN_S = 60.0
"""Seconds to make a piece, in which a query finds nothing."""

TAKEN_WITHIN_S = 60.0
"""Seconds to take a piece: 1 kB/s at least."""

Pieces = Generator[bytes, None, None]


class RowsAnswer(AnswerModel):
    """A page of rows."""

    provenance: Provenance
    next: str | None
    """URL of the page after this one; null after the last row."""


def bound_to(version: Version, question: Question) -> list[object]:
    """What a cursor is bound to."""
    filters = [[parameter.name, repr(value)] for parameter, value in question.filters]
    return [version.checksum, question.table.name, filters]


async def rows_answer(request: Request, version: Version, question: Question, wanted: Format) -> Response:
    """A page if the question has a limit, else a stream."""
    memory = service_of(request).answers
    if question.limit is not None:
        return await memory.answer(request, lambda: in_turn(_page)(request, version, question, wanted))
    etag = f'"{memory.key(request.scope["shelf"], request.scope)}"'
    if is_known(request.scope, etag, ANY):
        return not_modified(etag)
    return await _stream(request, version, question, wanted, etag)


def _next(request: Request, version: Version, question: Question, after: Key) -> str:
    cursor = cursor_of(after, bound_to=bound_to(version, question))
    return own_link(request, **version.key, cursor=cursor)


def _opened(request: Request, version: Version, question: Question, wanted: Format) -> Rows:
    reader = service_of(request).rows
    return reader.rows(version, question, RENDERINGS.get(wanted.suffix, "arrow"))


def _page(request: Request, version: Version, question: Question, wanted: Format) -> Response:
    assert question.limit is not None
    with contextlib.closing(_opened(request, version, question, wanted)) as rows:
        batches, last = rows.page(question.limit)
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
    request: Request, version: Version, question: Question, wanted: Format, etag: str
) -> Response:
    reader = service_of(request).rows
    computation = Computation()
    with contextlib.ExitStack() as opened:
        opened.enter_context(reader.streams.take(client_of(request.scope)))
        with watch(request) as leaving, computation.limited(MADE_WITHIN_S), computation.going_on():
            leaving.add_done_callback(lambda gone: None if gone.cancelled() else computation.stop())
            try:
                # It reads until the first rows are found.
                rows = await run_in_threadpool(_opened, request, version, question, wanted)
            except Stopped as stopped:
                if stopped.problem is None:
                    return Response(status_code=GONE)
                raise stopped.problem from None
        opened.callback(rows.close)
        closed = opened.pop_all().close
    return Stream(
        _pieces(request, version, wanted, rows),
        computation=computation,
        media_type=wanted.media_type,
        headers=_headers(request, version, question, wanted) | {"ETag": etag, "Cache-Control": CACHE_CONTROL},
        closed=closed,
    )


def _pieces(request: Request, version: Version, wanted: Format, rows: Rows) -> Pieces:
    """A stream, which ends with its reason if the release is withdrawn or damaged, or the query stopped."""
    reader = service_of(request).rows

    def checked() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            reader.check(version)
            yield batch

    try:
        yield from encoded(wanted, checked(), rows.schema)
    except (Problem, Stopped) as exc:
        problem = exc.problem if isinstance(exc, Stopped) else exc
        if problem is not None:
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


class StreamBroken(Exception):
    """A stream ends before the end of the body, so that nobody takes it for whole."""


class Stream(StreamingResponse):
    """An answer whose body is made in another thread."""

    def __init__(
        self,
        pieces: Pieces,
        *,
        computation: Computation,
        media_type: str,
        headers: Mapping[str, str],
        closed: Callable[[], None],
    ) -> None:
        """`pieces` raises StreamBroken to end early; `closed` is called once."""
        super().__init__(self._cut(), headers=headers, media_type=media_type)
        self._pieces = pieces
        self._computation = computation
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("asked_method") == "HEAD":
            self.body_iterator = iterate_in_threadpool(())

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(TAKEN_WITHIN_S):
                await send(message)

        try:
            # Without the last message the server closes the connection.
            with contextlib.suppress(StreamBroken, TimeoutError):
                # By this version of ASGI, Starlette itself waits for the client to hang up.
                await super().__call__({**scope, "asgi": {"spec_version": "2.0"}}, receive, send_in_time)
        finally:
            await run_in_threadpool(self._close)

    async def listen_for_disconnect(self, receive: Receive) -> None:
        await super().listen_for_disconnect(receive)
        self._computation.stop()

    async def _cut(self) -> AsyncIterator[bytes]:
        pieces = aiter(iterate_in_threadpool(self._pieces))
        while True:
            with self._computation.limited(MADE_WITHIN_S):
                piece = await anext(pieces, None)
            if piece is None:
                return
            for begin in range(0, len(piece), PIECE_BYTES):
                yield piece[begin : begin + PIECE_BYTES]

    def _close(self) -> None:
        try:
            self._pieces.close()
        finally:
            self._closed()


router = APIRouter(prefix="/v1", tags=["rows"], route_class=Placed)


def add_routes(name: str, table: RowTable) -> None:
    serve = get_in(
        router,
        f"/{name}",
        FORMATS,
        name=name,
        response_model=_answer_model(table),
        description=_description(table),
    )
    serve(_endpoint(table))


def _endpoint(table: RowTable) -> Callable[..., Any]:
    known = parameters(table.schema())

    async def endpoint(**asked: Any) -> Response:  # noqa: ANN401  # as the signature says
        version, wanted = asked["version"], asked["wanted"]
        question = Question(
            table=table,
            fields=tuple(asked["fields"] or table.schema().names),
            filters=filters(known, asked),
            limit=asked["limit"] or (None if wanted.is_bulk else PAGE_ROWS),
        )
        if asked["cursor"] is not None:
            after = key_of(asked["cursor"], parts=len(table.key), bound_to=bound_to(version, question))
            question = question.following(after)
        return await rows_answer(asked["request"], version, question, wanted)

    common = [
        _parameter("request", Request),
        _parameter("wanted", AskedFormat),
        _parameter("version", AskedRelease),
        *_parameters(table),
    ]
    # FastAPI reads it: a filter for each column and comparison, which is a type of its own.
    endpoint.__signature__ = inspect.Signature(common)  # type: ignore[attr-defined]
    return endpoint


def _parameters(table: RowTable) -> list[inspect.Parameter]:
    schema = table.schema()
    column: Any = Literal[tuple(schema.names)]
    fields = Annotated[
        list[column],
        Query(
            min_length=1,
            max_length=len(schema.names),
            description="columns of the answer, in their order; all columns if omitted",
            examples=[list(table.key)],
            json_schema_extra={"uniqueItems": True},
        ),
        SEVERAL,
        AfterValidator(_distinct),
    ]
    return [
        _parameter("fields", fields, []),
        _parameter("limit", RowLimitQuery, None),
        _parameter("cursor", CursorQuery, None),
        *(
            _parameter(
                parameter.name,
                Annotated[parameter.annotation, Query(description=parameter.description)],
                [] if parameter.is_list else None,
            )
            for parameter in parameters(schema).values()
        ),
    ]


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:  # noqa: ANN401
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a column is named twice")
    return names


def _answer_model(table: RowTable) -> type[RowsAnswer]:
    title = table.name.capitalize()
    schema = table.schema()
    columns = row_fields(schema, schema.names, default=None)
    row = create_model(
        f"{title}Row", __doc__=f"A row of {table.name}, with the columns that were asked for.", **columns
    )
    return create_model(
        f"{title}Rows",
        __base__=RowsAnswer,
        __doc__=f"A page of rows of {table.name}.",
        rows=(list[row], ...),  # type: ignore[valid-type]
    )


def _description(table: RowTable) -> str:
    return f"""Rows of the table `{table.name}` of a release, in the order of {" and ".join(table.key)}.

Every column can be filtered: by its name for equality, with any of several values, and as far as its type allows by
`COLUMN_at_least`, `COLUMN_at_most` and `COLUMN_is_null`. JSON comes in pages: follow `next`. The other formats have all
rows, unless `limit` asks for a page, whose `next` is in the header `Link`. A stream that was cut says so in its last line,
if its format has lines, and its connection is closed before the end of the body."""  # noqa: E501


for _name, _table in TABLES.items():
    add_routes(_name, _table)
