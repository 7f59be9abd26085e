"""`/v1/visits`, `/v1/connections` and `/v1/responses`: rows of a release by typed filters,
as pages or as whole streams."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import AfterValidator, create_model

from api.formats.offered import FORMATS, Format, by_accept, by_suffix
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
    """Add the routes of a table: with the format by Accept header, and by suffix."""
    by_header, by_ending = _endpoints(table)
    for path, route, endpoint in (
        (f"/{name}", name, by_header),
        (f"/{name}.{{suffix}}", f"{name}_as", by_ending),
    ):
        router.add_api_route(
            path,
            endpoint,
            name=route,
            response_model=_answer_model(table),
            responses={200: {"content": {format_.media_type: {} for format_ in FORMATS.values()}}},
            description=_description(table),
        )


def _endpoints(table: RowTable) -> tuple[Callable[..., Any], Callable[..., Any]]:
    known = parameters(table.schema())

    def question(wanted: Format, asked: dict[str, Any]) -> Question:
        limit = asked["limit"] or (None if wanted.is_bulk else PAGE_ROWS)
        fields = tuple(asked["fields"].split(",")) if asked["fields"] else tuple(table.schema().names)
        found = Question(table=table, fields=fields, filters=filters(known, asked), limit=limit)
        if asked["cursor"] is None:
            return found
        after = key_of(asked["cursor"], parts=len(table.key), bound_to=bound_to(asked["version"], found))
        return found.following(after)

    async def by_header(**asked: Any) -> Response:  # noqa: ANN401  # as the signature says
        wanted = by_accept(",".join(asked["request"].headers.getlist("accept")))
        answer = await rows_answer(asked["request"], asked["version"], question(wanted, asked), wanted)
        answer.headers["Vary"] = "Accept"
        return answer

    async def by_ending(**asked: Any) -> Response:  # noqa: ANN401  # as the signature says
        wanted = by_suffix(asked["suffix"])
        return await rows_answer(asked["request"], asked["version"], question(wanted, asked), wanted)

    suffix = Annotated[str, Path(description="the format", json_schema_extra={"enum": list(FORMATS)})]
    common = [_parameter("request", Request), _parameter("version", AskedRelease), *_parameters(table)]
    # FastAPI reads it: a filter for each column and comparison, which is a type of its own.
    by_header.__signature__ = inspect.Signature(common)  # type: ignore[attr-defined]
    by_ending.__signature__ = inspect.Signature([_parameter("suffix", suffix), *common])  # type: ignore[attr-defined]
    return by_header, by_ending


def _parameters(table: RowTable) -> list[inspect.Parameter]:
    schema = table.schema()
    fields = Annotated[
        str,
        AfterValidator(lambda text: _known_fields(text, schema)),
        Query(
            description="columns of the answer, separated by commas, in their order; all columns if omitted",
            json_schema_extra={"pattern": "^({0})(,({0}))*$".format("|".join(schema.names))},
            examples=[",".join(table.key)],
        ),
    ]
    return [
        _parameter("fields", fields, None),
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


def _known_fields(text: str, schema: pa.Schema) -> str:
    names = text.split(",")
    for name in names:
        if name not in schema.names:
            raise ValueError(f"no column {name!r}; there are {', '.join(schema.names)}")
    if len(set(names)) < len(names):
        raise ValueError("a column is named twice")
    return text


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

Every column can be filtered: by its name for equality, repeated for any of several values, and as far as its type allows by
`COLUMN_at_least`, `COLUMN_at_most` and `COLUMN_is_null`. JSON comes in pages: follow `next`. The other formats have all
rows, unless `limit` asks for a page, whose `next` is in the header `Link`. A stream that was cut says so in its last line,
if its format has lines, and its connection is closed before the end of the body."""  # noqa: E501


for _name, _table in TABLES.items():
    add_routes(_name, _table)
