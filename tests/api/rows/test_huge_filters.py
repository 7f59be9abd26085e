"""Filters that are too large, of another type or hostile are refused by name or find nothing;
none is an error of the service."""

import pytest
from fastapi.testclient import TestClient

from tests.api.rows.conftest import CRAWL, RESPONSES, SITES
from tests.api.test_v1 import assert_problem

LONG = "x" * 15_000
"""A text as long as a request's line may be with room to spare."""


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("responses", "visit_id", f"{2**63}"),
        ("responses", "visit_id", "9" * 400),
        ("responses", "wire_bytes_at_least", f"{-(2**63) - 1}"),
        ("responses", "wire_bytes_at_most", "1e999"),
        ("visits", "coverage_at_least", "nan"),
        ("visits", "coverage_at_least", "1e400"),
        ("visits", "started_at_at_least", "99999999-01-01"),
        ("responses", "is_complete", "maybe"),
        ("responses", "limit", "9" * 400),
        ("responses", "fields", ",".join(["no_such_field"] * 1000)),
        ("responses", "cursor", LONG),
        ("responses", "path", LONG),
        ("responses", "path", "é" * 2500),
    ],
)
def test_a_value_beyond_its_type_is_refused_with_the_parameters_name(
    client: TestClient, table: str, name: str, value: str
) -> None:
    answer = client.get(f"/v1/{table}", params={"crawl": CRAWL, name: value})
    assert_problem(answer, "bad-parameter", 400, mentions=name.removesuffix("_at_least"))
    assert len(answer.content) < 100_000


@pytest.mark.parametrize("text", ["' OR 1=1 --", "%", "\\", "a\nb", "\x00"])
def test_a_text_is_compared_and_never_run(client: TestClient, text: str) -> None:
    answer = client.get("/v1/responses", params={"crawl": CRAWL, "path": text})
    assert (answer.status_code, answer.json()["rows"]) == (200, [])


def test_hundreds_of_filters_are_refused_in_a_short_answer(client: TestClient) -> None:
    for name in ("path", "no_such_filter"):
        query = "&".join(f"{name}=x{number}" for number in range(700))
        answer = client.get(f"/v1/responses?crawl={CRAWL}&{query}")
        assert answer.status_code == 400
        assert len(answer.content) < 20_000


def test_every_filter_at_once_is_answered(client: TestClient) -> None:
    ranges = "&".join(
        f"{name}_at_least=0&{name}_at_most={2**31 - 1}" for name in ("id", "visit_id", "request_sent_us")
    )
    answered = client.get(f"/v1/responses?crawl={CRAWL}&limit=1000&{ranges}").json()["rows"]
    assert len(answered) == SITES * RESPONSES
