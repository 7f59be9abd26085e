"""Page loads that others recorded, who may not tell when a connection was opened."""

import dataclasses
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from firstflight.recorded_pages import import_pages
from firstflight.settings import from_environment
from tests.api.rows.conftest import serving
from tests.api.site_pages.test_pages import bars, read


@pytest.mark.slow
def test_recorded_pages_have_waterfalls_also_where_nobody_knows_when_connections_opened(
    tmp_path: Path,
) -> None:
    release = import_pages(dataclasses.replace(from_environment(), data_dir=tmp_path)).release
    rows = pq.read_table(release.file("connection"), columns=["visit_id", "opened_us"]).to_pylist()
    unknown = {row["visit_id"] for row in rows if row["opened_us"] is None}
    known = {row["visit_id"] for row in rows} - unknown
    assert unknown
    assert known
    with serving(tmp_path / "releases") as client:
        for visit in (*sorted(unknown)[::30], *sorted(known)[::30]):
            assert bars(read(client, f"/releases/{release.crawl}/v1/pages/{visit}"))
