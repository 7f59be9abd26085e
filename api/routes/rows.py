"""`/v1/visits`, `/v1/connections` and `/v1/responses`: rows of a release by typed filters,
as pages or as whole streams."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import AfterValidator, create_model

from api.formats.offered import FORMATS, AskedFormat, get_in
from api.http.choices import SEVERAL, choice
from api.routes.provenance import AskedRelease
from api.routes.row_answers import RowsAnswer, bound_to, rows_answer
from api.rows.cursors import LONGEST, key_of
from api.rows.filters import filters, parameters, row_fields
from api.rows.query import TABLES, Question, RowTable

router = APIRouter(prefix="/v1", tags=["rows"])

PAGE_ROWS = 100
"""Rows of a page of JSON unless the client says otherwise."""

MOST_ROWS = 10_000
"""Maximum number of rows of a page."""

LIMIT = f"rows of a page; {PAGE_ROWS} in JSON if omitted, all rows in the other formats"


def add_routes(name: str, table: RowTable) -> None:
    """Add the routes of a table."""
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
    column: Any = choice(schema.names)
    fields = Annotated[
        list[column],
        Query(
            min_length=1,
            max_length=len(schema.names),
            description="columns of the answer, in their order; all columns if omitted",
            examples=[list(table.key)],
        ),
        SEVERAL,
        AfterValidator(_distinct),
    ]
    return [
        _parameter("fields", fields, []),
        _parameter("limit", Annotated[int, Query(ge=1, le=MOST_ROWS, description=LIMIT)], None),
        _parameter(
            "cursor",
            Annotated[str, Query(max_length=LONGEST, description="where a page begins, by `next`")],
            None,
        ),
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
    """Model of a page of JSON, with the columns of the table."""
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
