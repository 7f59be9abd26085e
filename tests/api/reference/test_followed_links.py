"""schemathesis follows the API from answer to answer: no server error,
no status or answer that is not documented."""

import collections
from typing import Any

import pytest
import requests
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import UndefinedStatusCode

from api.lab.networks import usual_network
from tests.api.lab.conftest import har
from tests.api.reference.conftest import BASE_URL, CONFORMANCE
from tests.api.reference.links import LINKS, linked

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

WALKS, STEPS = 80, 30
"""Walks through the API, and the most calls of each."""

LEAST_FOLLOWED = 600

MOST_SEEDS = 10
"""Most seeds of walks. Hypothesis draws constants of the modules that are loaded too, so that walks differ by
the tests that ran before, and those of one seed may miss a link."""

CURSOR = r"$response.body#/next#regex:[?&]cursor=([^&]+)"
"""Cursor in the URL of the next page, which readers follow as it is,
by an expression of schemathesis's own."""

PAGES = {
    path: {
        "crawl": "$response.body#/provenance/crawl",
        "version": "$response.body#/provenance/version",
        "limit": "$request.query.limit",
        "cursor": CURSOR,
        "suffix": "json",
    }
    for path in ("/v1/visits.{suffix}", "/v1/connections.{suffix}", "/v1/responses.{suffix}")
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


def described(service: TestClient) -> dict[str, Any]:
    """The service's OpenAPI, with links between its answers, the ways to the next page, and the lab."""
    followed: dict[str, Any] = service.get("/openapi.json").json()
    followed["paths"] = linked(followed["paths"])
    for path, parameters in PAGES.items():
        operation = followed["paths"][path]["get"]
        following = {"operationId": operation["operationId"], "parameters": parameters}
        operation["responses"]["200"].setdefault("links", {})["next"] = following
    followed["paths"] |= LAB
    return followed


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
    """Walks by seed `number` through the API by its links, with each answer checked:
    how often a link led to what was asked for."""
    schema = schemathesis.openapi.from_dict(described)
    schema.config.update(base_url=BASE_URL)
    # The links alone, and parameters as they are described.
    schema.config.phases.stateful.inference.algorithms = []
    schema.config.generation.modes = [GenerationMode.POSITIVE]
    followed: collections.Counter[str] = collections.Counter()

    @seed(number)
    class Walk(schema.as_state_machine()):  # type: ignore[misc]  # schemathesis makes the class
        def call(self, case: Case[Any], **_kwargs: object) -> Response:
            asked = requests.Request(**case.as_transport_kwargs(base_url=BASE_URL)).prepare()
            assert isinstance(asked.body, bytes | None)
            headers = {name: str(value) for name, value in asked.headers.items()}
            answer = service.request(str(asked.method), str(asked.url), headers=headers, content=asked.body)
            return Response.from_httpx2(answer, verify=False)

        def validate_response(self, response: Response, case: Case[Any], **_kwargs: object) -> None:
            case.validate_response(response, checks=CONFORMANCE)
            step = self.recorder.cases[case.id]
            if step.transition is not None and step.is_transition_applied and response.status_code < 400:
                followed[step.transition.id] += 1

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
    return followed


def test_calls_that_follow_from_answers_get_what_is_documented(service: TestClient) -> None:
    document = described(service)
    followed: collections.Counter[str] = collections.Counter()
    for number in range(1, MOST_SEEDS + 1):
        followed += walked(service, document, number)
        if followed.keys() == links(document):
            break
    assert followed.keys() == links(document)
    assert len(followed) > sum(map(len, LINKS.values()))
    assert followed.total() >= LEAST_FOLLOWED


def test_a_status_that_is_not_documented_is_found(service: TestClient) -> None:
    document = described(service)
    answers = document["paths"]["/reports/{year}/errata"]["get"]["responses"]
    answers["204"] = answers.pop("200")
    with pytest.raises(FailureGroup) as caught:
        walked(service, document)
    assert [type(exception) for exception in caught.value.exceptions] == [UndefinedStatusCode]
