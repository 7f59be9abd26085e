"""The calls that an answer of the API leads to, and the parameters that it has for them, as OpenAPI links."""

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A call that an answer leads to (OpenAPI 3.1 §4.8.20)."""

    source: str
    """Path of the endpoint whose answer leads on."""
    target: str
    """Path of the endpoint that is called next."""
    parameters: Mapping[str, str]
    """Runtime expressions by the parameter of the next call."""

    @property
    def name(self) -> str:
        """Key of the link in its answer, which OpenAPI limits to letters, digits, `.`, `-` and `_`.

        >>> Link(source="/v1/visits.{suffix}", target="/v1/pages/{visit}", parameters={}).name
        'v1-pages-visit'
        """
        return self.target.translate(str.maketrans("/", "-", "{}")).strip("-")


def _of(place: str, **names: str) -> dict[str, str]:
    """Runtime expressions for parameters by their names in an object of the answer."""
    return {parameter: f"$response.body#/{place}/{name}" for parameter, name in names.items()}


IN_JSON = {"suffix": "json"}
"""The format of answers that lead on."""

RELEASE = {"crawl": "crawl", "version": "version"}
"""A release, which every way from an answer pins, by its names in an answer's provenance."""

OF_CRAWLS = _of("crawls/0/provenance", **RELEASE)
OF_RELEASES = _of("releases/0/provenance", **RELEASE)
OF_ANSWER = _of("provenance", **RELEASE)
VARIANT = _of("crawls/0", device="device", vantage="vantage", arm="arm", kind="kind")
VISIT = _of("rows/0", visit_id="id")
REPORT = _of("reports/0", year="year", version="version")

LINKS = (
    Link(source="/v1/crawls", target="/v1/releases", parameters=OF_CRAWLS),
    Link(source="/v1/crawls", target="/v1/distributions", parameters=OF_CRAWLS),
    Link(source="/v1/crawls", target="/v1/visits.{suffix}", parameters=OF_CRAWLS),
    Link(source="/v1/crawls", target="/v1/series.{suffix}", parameters=VARIANT),
    Link(
        source="/v1/releases",
        target="/releases/{crawl}/v{version}/{name}",
        parameters=OF_RELEASES | _of("releases/0/files/0", name="name"),
    ),
    Link(
        source="/v1/releases",
        target="/releases/{crawl}/v{version}/cite.{form}",
        parameters=OF_RELEASES | {"form": "bib"},
    ),
    Link(source="/v1/releases", target="/v1/errata", parameters=OF_RELEASES),
    Link(source="/v1/errata", target="/v1/releases", parameters=_of("errata/0/releases/0", **RELEASE)),
    Link(
        source="/v1/crawls",
        target="/v1/changes.{suffix}",
        parameters={"from": "$response.body#/crawls/1/provenance/crawl"}
        | _of("crawls/0/provenance", to="crawl"),
    ),
    Link(
        source="/v1/series.{suffix}",
        target="/v1/distributions",
        parameters=_of("points/0", **RELEASE) | {"measure": "$response.body#/measure"},
    ),
    Link(
        source="/v1/distributions",
        target="/v1/first-flight.{suffix}",
        parameters=OF_ANSWER | _of("distributions/0", measure="measure"),
    ),
    Link(
        source="/v1/visits.{suffix}",
        target="/v1/pages/{visit}",
        parameters=OF_ANSWER | _of("rows/0", visit="id"),
    ),
    Link(source="/v1/visits.{suffix}", target="/v1/sites/{host}", parameters=_of("rows/0", host="host")),
    Link(source="/v1/visits.{suffix}", target="/v1/connections.{suffix}", parameters=OF_ANSWER | VISIT),
    Link(source="/v1/visits.{suffix}", target="/v1/responses.{suffix}", parameters=OF_ANSWER | VISIT),
    Link(
        source="/v1/sites/{host}",
        target="/v1/pages/{visit}",
        parameters=_of("crawls/0/provenance", **RELEASE) | _of("crawls/0/visits/0", visit="id"),
    ),
    Link(source="/v1/pages/{visit}", target="/v1/sites/{host}", parameters=_of("visit", host="host")),
    Link(source="/v1/reports", target="/reports/{year}/v{version}/", parameters=REPORT),
    Link(source="/v1/reports", target="/reports/{year}/errata", parameters=_of("reports/0", year="year")),
    Link(
        source="/v1/reports",
        target="/reports/{year}/v{version}/files/{name}",
        parameters=REPORT | _of("reports/0/versions/0/files/0", name="name"),
    ),
    Link(
        source="/v1/reports",
        target="/reports/{year}/v{version}/cite.{form}",
        parameters=REPORT | {"form": "bib"},
    ),
)
"""The way through the data: from crawls to releases, distributions, series and rows,
from rows to page loads and sites."""


def linked(paths: Mapping[str, Any], links: tuple[Link, ...]) -> dict[str, Any]:
    """The paths of an OpenAPI document, with links in the answers of those that lead on."""
    return {
        path: {
            method: _with_links(operation, _links(paths, path, links))
            for method, operation in methods.items()
        }
        for path, methods in paths.items()
    }


def _with_links(operation: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    if not found:
        return dict(operation)
    answers = operation["responses"]
    return {**operation, "responses": answers | {"200": answers["200"] | {"links": found}}}


def _links(paths: Mapping[str, Any], path: str, links: tuple[Link, ...]) -> dict[str, Any]:
    return {
        link.name: {
            "operationId": paths[link.target]["get"]["operationId"],
            "description": f"GET {link.target}",
            "parameters": {**link.parameters, **IN_JSON}
            if "{suffix}" in link.target
            else {**link.parameters},
        }
        for link in links
        if link.source == path
    }
