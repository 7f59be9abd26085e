"""The formats of answers: the suffix of an address chooses, and without one it is JSON."""

import csv
import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from starlette.convertors import StringConvertor, register_url_convertor

from api.http.problems import Problem


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A format of an answer."""

    suffix: str
    media_type: str
    is_bulk: bool = True
    """True if an answer without a limit has every row."""


JSON = Format(suffix="json", media_type="application/json", is_bulk=False)
NDJSON = Format(suffix="ndjson", media_type="application/x-ndjson")
CSV = Format(suffix="csv", media_type="text/csv")
ARROW = Format(suffix="arrow", media_type="application/vnd.apache.arrow.stream")
PARQUET = Format(suffix="parquet", media_type="application/vnd.apache.parquet")
FORMATS = (JSON, NDJSON, CSV, ARROW, PARQUET)
"""The first is that of an address without a suffix."""


class SuffixConvertor(StringConvertor):
    """The suffix of a known format in a path."""

    regex = "|".join(format_.suffix for format_ in FORMATS)


register_url_convertor("suffix", SuffixConvertor())

IN_JSON = (JSON,)

IN_A_TABLE = (JSON, CSV)


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def get_in(
    router: APIRouter,
    path: str,
    formats: Sequence[Format],
    *,
    name: str,
    **route: Any,  # noqa: ANN401  # FastAPI's own
) -> Callable[[Endpoint], Endpoint]:
    """Serve an endpoint at `path`, and in each of `formats` at `path` with its suffix.

    The route with a suffix is `name` with `_as`, and documented where there is a choice. A path that ends
    with a parameter has a known suffix alone: hosts have dots too.
    """
    by_suffix = {format_.suffix: format_ for format_ in formats}

    async def check(request: Request) -> None:
        suffix = request.path_params.get("suffix", formats[0].suffix)
        if suffix not in by_suffix:
            raise Problem(
                "no-such-format",
                f"the answer is not offered as .{suffix[:100]}; there are "
                f"{', '.join(f'.{known}' for known in by_suffix)}",
                offered=[
                    {"suffix": f".{format_.suffix}", "media_type": format_.media_type} for format_ in formats
                ],
            )
        request.state.format = by_suffix[suffix]

    parameter = {
        "name": "suffix",
        "in": "path",
        "required": True,
        "description": f"the format; the address without a suffix is .{formats[0].suffix}",
        "schema": {"type": "string", "enum": list(by_suffix)},
        "example": formats[0].suffix,
    }
    content: dict[str, Any] = {format_.media_type: {} for format_ in formats}
    hidden: dict[str, Any] = {"include_in_schema": False}
    documented: dict[str, Any] = {
        "responses": {200: {"content": content}},
        "openapi_extra": {"parameters": [parameter]},
    }
    plain, with_suffix = (hidden, documented) if len(formats) > 1 else ({}, hidden)

    def add(endpoint: Endpoint) -> Endpoint:
        common = {**route, "dependencies": [Depends(check)]}
        ending = "{suffix:suffix}" if path.endswith("}") else "{suffix}"
        # The more special path first: the other would take the suffix for a part of its parameter.
        router.add_api_route(f"{path}.{ending}", endpoint, name=f"{name}_as", **common, **with_suffix)
        router.add_api_route(path, endpoint, name=name, **common, **plain)
        return endpoint

    return add


async def _chosen(request: Request) -> Format:
    chosen: Format = request.state.format
    return chosen


AskedFormat = Annotated[Format, Depends(_chosen)]


def as_csv(rows: Iterable[Mapping[str, object]]) -> Response:
    text = io.StringIO(newline="")
    columns: list[str] = []
    for row in rows:
        if not columns:
            columns = list(row)
            csv.writer(text).writerow(columns)
        csv.writer(text).writerow(row[name] for name in columns)
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8")
