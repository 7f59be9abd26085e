"""Calls that schemathesis generates from the OpenAPI get no server error and no
status that it does not document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.core.result import Ok

from schema.crawls import CrawlName
from storage.report_versions import Publication
from tests.api.conftest import write_release_with_items
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.factories.published_report import write_version
from tests.firstflight.commands.served import served

pytestmark = pytest.mark.process

CALLS = 4
"""Calls of each operation, of which the first is as small as can be."""

WITHIN_S = 120
"""Time limit for one answer, in seconds, on a machine that does much else."""

ITEMS = CrawlName(month="2026-11")
THERE: dict[str, tuple[Any, ...]] = {
    "crawl": (CRAWL, str(ITEMS), "2026-11"),
    "version": (1,),
    "year": (2026,),
    "host": ("site1.test",),
    "visit": (1,),
    "name": ("distribution.parquet", "manifest.json", "report.json"),
}
"""Values of parameters that name what is there, by the parameter:
a call with made-up names alone finds nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A service with a release of rows, one with strata, and a report."""
    write_crawl(tmp_path / "releases", NAME, made_up())
    write_release_with_items(tmp_path / "releases", ITEMS)
    write_version(tmp_path / "reports" / "2026", Publication(date="2027-01-15"))
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    with served(environment) as address:
        yield address


@st.composite
def calls(draw: st.DrawFn, operation: Any) -> Case[Any]:
    """A call of an operation; in about two of three its parameters name what is there."""
    case: Case[Any] = draw(operation.as_strategy())
    required = {
        field["name"] for field in operation.definition.raw.get("parameters", []) if field.get("required")
    }
    is_there = draw(st.sampled_from([True, True, False]))
    for name, values in THERE.items():
        if is_there and name in required:
            place = case.path_parameters if f"{{{name}}}" in operation.path else case.query
            place[name] = draw(st.sampled_from(values))
    return case


def answered(operation: Any, session: requests.Session) -> list[tuple[str, int]]:
    """Address and status of each answer to calls of an operation; redirects are not followed."""
    answers: list[tuple[str, int]] = []

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
        answer = case.call(session=session, timeout=WITHIN_S, max_redirects=0)
        answers.append((str(answer.request.url), answer.status_code))

    call()
    return answers


def test_no_generated_call_gets_a_server_error_or_a_status_that_is_not_documented(address: str) -> None:
    with requests.Session() as session:
        described = session.get(f"{address}openapi.json", timeout=WITHIN_S).json()
        schema = schemathesis.openapi.from_dict(described)
        schema.config.update(base_url=address)
        wrong, good = [], set()
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result
            operation = result.ok()
            documented = set(operation.definition.raw["responses"])
            for url, status in answered(operation, session):
                if status >= 500 or not {str(status), f"{status // 100}XX"} & documented:
                    wrong.append((operation.path, status, url))
                if status < 300:
                    good.add(operation.path)
    assert wrong == []
    assert len(good) > len(described["paths"]) / 2, f"most calls find nothing; these find something: {good}"
