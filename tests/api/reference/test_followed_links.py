"""schemathesis follows the API from answer to answer: no server error, no status or answer that is not documented."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq
import pytest
import requests
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import UndefinedStatusCode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from api.lab.networks import usual_network
from api.lab.queue import Queue
from api.reference.links import LINKS
from releases.errata.stored import record
from schema.crawls import CrawlName
from storage.report_versions import Publication
from tests.api.conftest import distribution_table, write_release_with_items
from tests.api.lab.conftest import har
from tests.api.rows.conftest import SITES, made_up
from tests.factories.made_up_crawl import write_tables
from tests.factories.made_up_release import make_release
from tests.factories.made_up_replay import at_once
from tests.factories.published_report import CITABLE, write_version

pytestmark = pytest.mark.slow

WALKS, STEPS = 80, 30
"""Walks through the API, and the most calls of each."""

LEAST_FOLLOWED = 600
"""Times that a link led to what was asked for, over all walks."""

MOST_SEEDS = 10
"""Most seeds of walks. Hypothesis draws constants of the modules that are loaded too, so that walks differ by the tests that ran before, and
those of one seed may miss a link."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

BASE_URL = "http://testserver"

CURSOR = r"$response.body#/next#regex:[?&]cursor=([^&]+)"
"""Cursor in the URL of the next page, which readers follow as it is, by an expression of schemathesis's own."""

PAGES = {
    path: {
        "crawl": "$response.body#/provenance/crawl",
        "version": "$response.body#/provenance/version",
        "limit": "$request.query.limit",
        "cursor": CURSOR,
    }
    for path in ("/v1/visits", "/v1/connections", "/v1/responses")
}

LAB: dict[str, Any] = {
    "/lab": {
        "post": {
            "operationId": "lab_form",
            "requestBody": {
                "required": True,
                "content": {
                    "multipart/form-data": {
                        "schema": {
                            "type": "object",
                            "required": ["har", "network"],
                            "additionalProperties": False,
                            "properties": {
                                "har": {
                                    "type": "string",
                                    "format": "binary",
                                    "enum": [har().decode(), "no HAR"],
                                },
                                "network": {"type": "string", "enum": [usual_network(), "none"]},
                            },
                        }
                    }
                },
            },
            "responses": {
                "303": {
                    "description": "the page of the replay",
                    "links": {
                        "replay": {
                            "operationId": "lab_replay",
                            "parameters": {"id": r"$response.header.Location#regex:/lab/(.+)"},
                        }
                    },
                },
                "4XX": {"description": "a problem"},
            },
        }
    },
    "/lab/{id}": {
        "get": {
            "operationId": "lab_replay",
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "responses": {"200": {"description": "a page"}, "4XX": {"description": "a problem"}},
        }
    },
}
"""The lab as the API would describe it, which its pages are no part of."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service with two months, of which the newer has rows, an erratum, a report, and a lab that replays nothing."""
    root = tmp_path_factory.mktemp("data")
    rows = CrawlName(month="2026-11")
    folder = rows.path(root / "releases", version=1)
    write_tables(folder, made_up())
    pq.write_table(distribution_table(), folder / "distribution.parquet")
    (folder / "dictionary.json").write_text("{}\n")
    make_release(folder, rows, rows={"visit": SITES})
    write_release_with_items(root / "releases", CrawlName(month="2026-10"))
    record(root / "releases", [f"{rows}/v1"], wrong="too large", advice="wait", date="2026-12-04")
    write_version(root / "reports" / "2026", Publication(date="2027-01-15"), **CITABLE)
    app = create_app(root / "releases", root / "reports", lab=Queue(at_once), looked_at_every_s=0)
    with TestClient(app, base_url=BASE_URL, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


def described(service: TestClient) -> dict[str, Any]:
    """The service's OpenAPI, with the ways from a page to the next one, and with the lab."""
    found: dict[str, Any] = service.get("/openapi.json").json()
    for path, parameters in PAGES.items():
        operation = found["paths"][path]["get"]
        following = {"operationId": operation["operationId"], "parameters": parameters}
        operation["responses"]["200"].setdefault("links", {})["next"] = following
    found["paths"] |= LAB
    return found


def links(described: dict[str, Any]) -> set[str]:
    """Every link of an OpenAPI document as schemathesis names it: from which answer, and to which call."""
    operations = {
        operation["operationId"]: (f"{method.upper()} {path}", operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    return {
        f"{source} -> [{status}] {name} -> {operations[link['operationId']][0]}"
        for source, operation in operations.values()
        for status, answer in operation["responses"].items()
        for name, link in answer.get("links", {}).items()
    }


def walked(service: TestClient, described: dict[str, Any], number: int = 1) -> collections.Counter[str]:
    """Walks by seed `number` through the API by its links, with each answer checked: how often a link led to what was asked for."""
    schema = schemathesis.openapi.from_dict(described)
    schema.config.update(base_url=BASE_URL)
    # The links alone, and parameters as they are described.
    schema.config.phases.stateful.inference.algorithms = []
    schema.config.generation.modes = [GenerationMode.POSITIVE]
    found: collections.Counter[str] = collections.Counter()

    @seed(number)
    class Walk(schema.as_state_machine()):  # type: ignore[misc]  # schemathesis makes the class
        def call(self, case: Case[Any], **_kwargs: object) -> Response:
            asked = requests.Request(**case.as_transport_kwargs(base_url=BASE_URL)).prepare()
            assert isinstance(asked.body, bytes | None)
            headers = {name: str(value) for name, value in asked.headers.items()}
            answer = service.request(str(asked.method), str(asked.url), headers=headers, content=asked.body)
            return Response.from_httpx2(answer, verify=False)

        def validate_response(self, response: Response, case: Case[Any], **_kwargs: object) -> None:
            case.validate_response(response, checks=CHECKS)
            step = self.recorder.cases[case.id]
            if step.transition is not None and step.is_transition_applied and response.status_code < 400:
                found[step.transition.id] += 1

    Walk.run(
        settings=settings(
            max_examples=WALKS,
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
    )
    return found


def test_calls_that_follow_from_answers_get_what_is_documented(service: TestClient) -> None:
    document = described(service)
    found: collections.Counter[str] = collections.Counter()
    for number in range(1, MOST_SEEDS + 1):
        found += walked(service, document, number)
        if found.keys() == links(document):
            break
    assert found.keys() == links(document)
    assert len(found) > len(LINKS)
    assert found.total() >= LEAST_FOLLOWED


def test_a_status_that_is_not_documented_is_found(service: TestClient) -> None:
    document = described(service)
    answers = document["paths"]["/reports/{year}/errata"]["get"]["responses"]
    answers["204"] = answers.pop("200")
    with pytest.raises(FailureGroup) as caught:
        walked(service, document)
    assert [type(one) for one in caught.value.exceptions] == [UndefinedStatusCode]
