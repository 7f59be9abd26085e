"""Calls that schemathesis generates from the OpenAPI get no server error, and no status, media type, header
or body that it does not document; those that it allows are answered, and those that it does not refused."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
)

from releases.strata.sample import Stratum
from schema.crawls import CrawlName
from storage.report_versions import Publication
from tests.api.conftest import write_release_with_items
from tests.api.reference.conftest import CONFORMANCE
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.circles import ALL
from tests.factories.published_report import write_version
from tests.firstflight.commands.served import served

pytestmark = pytest.mark.process

CALLS = 80 if ALL else 4
"""Calls of each operation, half of them by its description; the first is as small as can be."""

LEAST_CALLS = 2000
"""Calls of all operations that `scripts/test --all` makes at least."""

MOST_SENT = 60_000
"""Bytes of the longest address that the application sees, less the rest of a header; granian itself, without
a body, refuses a longer one, which no client sends by chance."""

CHECKS = [
    *CONFORMANCE,
    response_headers_conformance,
    negative_data_rejection,
    positive_data_acceptance,
]

WITHIN_S = 120

ITEMS = CrawlName(month="2026-11")
THERE: dict[str, tuple[Any, ...]] = {
    "crawl": (CRAWL, str(ITEMS), "2026-11"),
    "version": (1,),
    "year": ("2026",),
    "host": ("site1.test",),
    "visit": (1,),
    "name": ("distribution.parquet", "manifest.json", "report.json"),
}
"""Values of parameters that name what is there, by the parameter:
a call with made-up names alone finds nothing."""

DIMENSIONS = {field.name for field in dataclasses.fields(Stratum)}

REFUSALS = ["307", "431"]
"""Statuses of calls that the document does not allow, besides the usual ones: a redirect to the whole name,
which is looked at first, and too long a header."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A service with a release of rows, one with strata, and a report."""
    write_crawl(tmp_path / "releases", NAME, made_up())
    write_release_with_items(tmp_path / "releases", ITEMS)
    write_version(tmp_path / "reports" / "2026", Publication(date="2027-01-15"))
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    with served(environment) as address:
        yield address


def heed_descriptions(query: dict[str, Any]) -> None:
    """Change a query in what the descriptions of parameters rule out and no schema can.

    A version needs a crawl, a cursor comes from an answer (test_followed_links.py), not every text is a part
    of a host's name, not every measure has every dimension, and commas and spaces alone are no value.
    """
    for name, values in list(query.items()):
        if isinstance(values, list) and not "".join(map(str, values)).strip(" ,"):
            del query[name]
    if "crawl" not in query:
        query.pop("version", None)
    query.pop("cursor", None)
    if "q" in query:
        query["q"] = "site1"
    if not DIMENSIONS.isdisjoint(query):
        query.pop("measure", None)


@st.composite
def calls(draw: st.DrawFn, operation: Any) -> Case[Any]:
    """A call of an operation; in about two of three its parameters name what is there."""
    mode = draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    has_parameters = bool(operation.definition.raw.get("parameters"))
    case: Case[Any] = draw(
        operation.as_strategy(generation_mode=mode if has_parameters else GenerationMode.POSITIVE)
    )
    required = {
        field["name"] for field in operation.definition.raw.get("parameters", []) if field.get("required")
    }
    is_there = draw(st.sampled_from([True, True, False]))
    for name, values in THERE.items():
        if is_there and name in required:
            place = case.path_parameters if f"{{{name}}}" in operation.path else case.query
            place[name] = draw(st.sampled_from(values))
    assert case.meta is not None
    if case.meta.generation.mode.is_positive:
        heed_descriptions(case.query)
    return case


def answered(operation: Any, session: requests.Session) -> list[int]:
    """Status of each answer to calls of an operation, which is as documented; redirects are not followed."""
    statuses: list[int] = []

    @seed(1)
    @settings(
        max_examples=CALLS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls(operation))
    def call(case: Case[Any]) -> None:
        address = requests.Request(**case.as_transport_kwargs()).prepare().url
        assume(len(str(address)) <= MOST_SENT)
        answer = case.call(session=session, timeout=WITHIN_S, max_redirects=0)
        statuses.append(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    call()
    return statuses


def test_no_generated_call_gets_an_answer_that_is_not_documented(address: str) -> None:
    with requests.Session() as session:
        described = session.get(f"{address}openapi.json", timeout=WITHIN_S).json()
        schema = schemathesis.openapi.from_dict(described)
        schema.config.update(base_url=address)
        rejection = schema.config.checks.negative_data_rejection
        rejection.expected_statuses = [*rejection.expected_statuses, *REFUSALS]
        statuses: dict[str, list[int]] = {}
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result
            operation = result.ok()
            statuses[operation.path] = answered(operation, session)
    good = {path for path, found in statuses.items() if min(found) < 300}
    assert len(good) > len(described["paths"]) / 2, f"most calls find nothing; these find something: {good}"
    assert not ALL or sum(map(len, statuses.values())) >= LEAST_CALLS
