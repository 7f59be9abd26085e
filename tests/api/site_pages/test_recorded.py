"""Page loads that others recorded, who may not tell when a connection was opened."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from recordings.pages.sets import AUGUST_2025
from releases.catalogue import releases
from tests.api.conftest import serving
from tests.api.site_pages.test_pages import bars, waterfall
from tests.circles import ALL

EVERY = 30 if ALL else 120


@pytest.mark.slow
def test_recorded_pages_have_waterfalls_also_where_nobody_knows_when_connections_opened(
    recorded_releases: Callable[[str], Path],
) -> None:
    folder = recorded_releases(AUGUST_2025)
    (release,) = releases(folder)
    rows = pq.read_table(release.file("connection"), columns=["visit_id", "opened_us"]).to_pylist()
    unknown = {row["visit_id"] for row in rows if row["opened_us"] is None}
    known = {row["visit_id"] for row in rows} - unknown
    assert unknown
    assert known
    with serving(folder) as client:
        for visit in (*sorted(unknown)[::EVERY], *sorted(known)[::EVERY]):
            assert bars(waterfall(client, f"/releases/{release.crawl}/v1/pages/{visit}"))
