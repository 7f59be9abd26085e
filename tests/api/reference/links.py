"""The calls that an answer of the API leads to, and the parameters that it has for them, as OpenAPI links
(OpenAPI 3.1 §4.8.20)."""

from collections.abc import Mapping
from typing import Any


def _of(place: str, **names: str) -> dict[str, str]:
    """Runtime expressions for parameters by their names in an object of the answer."""
    return {parameter: f"$response.body#/{place}/{name}" for parameter, name in names.items()}


IN_JSON = {"suffix": "json"}

RELEASE = {"crawl": "crawl", "version": "version"}
"""A release, which every way from an answer pins, by its names in an answer's provenance."""

OF_CRAWLS = _of("crawls/0/provenance", **RELEASE)
OF_RELEASES = _of("releases/0/provenance", **RELEASE)
OF_ANSWER = _of("provenance", **RELEASE)
VARIANT = _of("crawls/0", device="device", vantage="vantage", arm="arm", kind="kind")
VISIT = _of("rows/0", visit_id="id")
REPORT = _of("reports/0", year="year", version="version")

LINKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "/v1/crawls": {
        "/v1/releases": OF_CRAWLS,
        "/v1/distributions": OF_CRAWLS,
        "/v1/visits.{suffix}": OF_CRAWLS,
        "/v1/series.{suffix}": VARIANT,
        "/v1/changes.{suffix}": _of("crawls/1/provenance", **{"from": "crawl"})
        | _of("crawls/0/provenance", to="crawl"),
    },
    "/v1/releases": {
        "/releases/{crawl}/v{version}/{name}": OF_RELEASES | _of("releases/0/files/0", name="name"),
        "/releases/{crawl}/v{version}/cite.{form}": OF_RELEASES | {"form": "bib"},
        "/v1/errata": OF_RELEASES,
    },
    "/v1/errata": {"/v1/releases": _of("errata/0/releases/0", **RELEASE)},
    "/v1/series.{suffix}": {
        "/v1/distributions": _of("points/0", **RELEASE) | {"measure": "$response.body#/measure"}
    },
    "/v1/distributions": {"/v1/first-flight.{suffix}": OF_ANSWER | _of("distributions/0", measure="measure")},
    "/v1/visits.{suffix}": {
        "/v1/pages/{visit}": OF_ANSWER | _of("rows/0", visit="id"),
        "/v1/sites/{host}": _of("rows/0", host="host"),
        "/v1/connections.{suffix}": OF_ANSWER | VISIT,
        "/v1/responses.{suffix}": OF_ANSWER | VISIT,
    },
    "/v1/sites/{host}": {
        "/v1/pages/{visit}": _of("crawls/0/provenance", **RELEASE) | _of("crawls/0/visits/0", visit="id")
    },
    "/v1/pages/{visit}": {"/v1/sites/{host}": _of("visit", host="host")},
    "/v1/reports": {
        "/reports/{year}/v{version}/": REPORT,
        "/reports/{year}/errata": _of("reports/0", year="year"),
        "/reports/{year}/v{version}/files/{name}": REPORT | _of("reports/0/versions/0/files/0", name="name"),
        "/reports/{year}/v{version}/cite.{form}": REPORT | {"form": "bib"},
    },
}
"""The way through the data, from crawls to releases, distributions, series and rows, and from rows to page
loads and sites: by the path of an endpoint, the endpoints that its answer leads to, and the runtime
expressions of their parameters."""


def link_name(target: str) -> str:
    """Key of a link in an answer, which OpenAPI limits to letters, digits, `.`, `-` and `_`.

    >>> link_name("/v1/pages/{visit}")
    'v1-pages-visit'
    """
    return target.translate(str.maketrans("/", "-", "{}")).strip("-")


def linked(paths: Mapping[str, Any]) -> dict[str, Any]:
    """The paths of an OpenAPI document, with links in the answers of those that lead on."""
    return {
        path: {method: _with_links(paths, path, operation) for method, operation in methods.items()}
        for path, methods in paths.items()
    }


def _with_links(paths: Mapping[str, Any], path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    if path not in LINKS:
        return dict(operation)
    links = {
        link_name(target): {
            "operationId": paths[target]["get"]["operationId"],
            "description": f"GET {target}",
            "parameters": {**parameters, **IN_JSON} if "{suffix}" in target else {**parameters},
        }
        for target, parameters in LINKS[path].items()
    }
    answers = operation["responses"]
    return {**operation, "responses": answers | {"200": answers["200"] | {"links": links}}}
