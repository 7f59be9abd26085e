"""The choice of a format by Accept header and by suffix."""

import pytest
from fastapi.testclient import TestClient

from api.formats.offered import FORMATS, Format, by_accept
from tests.api.rows.conftest import CRAWL
from tests.api.test_v1 import assert_problem


@pytest.mark.parametrize("wanted", FORMATS.values(), ids=FORMATS)
def test_the_accept_header_and_the_suffix_lead_to_the_same_rows(client: TestClient, wanted: Format) -> None:
    by_header = client.get(f"/v1/visits?crawl={CRAWL}", headers={"Accept": wanted.media_type})
    by_suffix = client.get(f"/v1/visits.{wanted.suffix}?crawl={CRAWL}", headers={"Accept": "image/png"})
    assert by_header.headers["content-type"].startswith(wanted.media_type)
    assert by_header.content == by_suffix.content


@pytest.mark.parametrize(
    "accept", ["text/html", "application/xml, image/*", "application/json;q=0", "text/csv;q=x", "nonsense"]
)
def test_what_is_not_offered_is_a_problem_that_lists_what_is(client: TestClient, accept: str) -> None:
    response = client.get(f"/v1/visits?crawl={CRAWL}", headers={"Accept": accept})
    if accept == "text/html":
        assert response.status_code == 406
        return
    problem = assert_problem(response, "not-acceptable", 406)
    assert [one["media_type"] for one in problem["offered"]] == [one.media_type for one in FORMATS.values()]


@pytest.mark.parametrize("suffix", ["xlsx", "JSON", "csv.gz", "..", "%00"])
def test_a_suffix_that_is_not_offered_is_a_problem(client: TestClient, suffix: str) -> None:
    assert_problem(client.get(f"/v1/visits.{suffix}?crawl={CRAWL}"), "not-acceptable", 406)


def test_the_most_specific_range_decides() -> None:
    assert by_accept("text/*;q=0.1, text/csv;q=0.9, */*;q=0.5").suffix == "csv"
    assert by_accept("*/*;q=0.1, application/vnd.apache.parquet").suffix == "parquet"
