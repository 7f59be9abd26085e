"""Addresses of the service's pages, found from the routes of its application."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.responses import HTMLResponse
from fastapi.routing import iter_route_contexts

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

AS_A_BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
"""Header with which problems answer as pages."""

NOWHERE = "/nothing-is-served-here"
"""Address whose answer is the page of a problem."""


class AddressError(Exception):
    """A route of the service cannot be asked for its page; the message says what to do."""


def find_addresses(
    app: FastAPI, client: TestClient, *, examples: Mapping[str, str], others: Sequence[str] = ()
) -> list[str]:
    """Return paths of all pages, with their queries: of each route that may answer HTML, of `others`,
    and of a problem; each page once.

    `examples` has a value for each parameter of a path, or a whole address for a route's path. Raises
    AddressError for a parameter without an example, and for an example that leads to no answer.
    """
    asked = dict.fromkeys(others, True)
    for path, states_html in _candidates(app, examples):
        asked[path] = states_html
    by_content: dict[bytes, str] = {}
    for path, must_answer in asked.items():
        answer = client.get(path, headers=AS_A_BROWSER)
        is_there = answer.status_code == HTTPStatus.OK
        if must_answer and not is_there:
            raise AddressError(
                f"{path} answers {answer.status_code}: give its route an example that is there"
            )
        if is_there and answer.headers["content-type"].startswith("text/html"):
            by_content.setdefault(answer.content, answer.url.raw_path.decode("ascii"))
    return [*by_content.values(), NOWHERE]


def _candidates(app: FastAPI, examples: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield paths of the routes that state HTML, and of those without parameters, which may answer it too;
    whether they state it."""
    for route in iter_route_contexts(app.routes):
        path, stated = str(route.path_format), route.response_class
        states_html = isinstance(stated, type) and issubclass(stated, HTMLResponse)
        if states_html or "{" not in path:
            try:
                yield examples.get(str(route.path)) or path.format(**examples), states_html
            except KeyError as missing:
                raise AddressError(f"{route.path} needs an example of {missing}") from None
