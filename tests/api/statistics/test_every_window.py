"""Counts are exact at every window from 1 to 100 segments, at every size of a segment that the explorer
offers, alone and in a stratum."""

import itertools
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from api.explorer.routes import SEGMENTS
from schema.crawls import CrawlName
from tests.api.conftest import item_table, serving, write_release_with_items

CRAWL = CrawlName(month="2026-12")
AT_ONCE = 20

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """An item of each window's size and one of a byte more, for a part of all windows,
    over h2 and http/1.1 by chance."""
    chance = random.Random(5)
    pattern = next(item for item in item_table().to_pylist() if item["measure"] == "responses")
    ends = [iw * mss for iw, mss in itertools.product(range(1, 101), SEGMENTS)]
    sizes = sorted(end + more for end in chance.sample(ends, 300) for more in (0, 1))
    return [
        {**pattern, "size_bytes": size, "protocol": chance.choice(("h2", "http/1.1")), "rank": place % 40 + 1}
        for place, size in enumerate(sizes)
    ]


@pytest.mark.parametrize("protocol", [None, "h2"])
def test_counts_are_exact_at_every_window(rows: list[Row], protocol: str | None, tmp_path: Path) -> None:
    items = pa.Table.from_pylist(rows, schema=item_table().schema)
    write_release_with_items(tmp_path, CRAWL, items=items)
    sizes = [row["size_bytes"] for row in rows if protocol in (None, row["protocol"])]
    stratum = {"protocol": protocol} if protocol else {}
    with serving(tmp_path) as client:
        for mss, first in itertools.product(SEGMENTS, range(1, 101, AT_ONCE)):
            windows = [*range(first, first + AT_ONCE)]
            asked: Row = {"crawl": str(CRAWL), "measure": "responses", "mss": mss, "iw": windows, **stratum}
            (distribution,) = client.get("/v1/distributions", params=asked).json()["distributions"]
            counted = {fit["iw"]: (fit["count"], fit["share"]) for fit in distribution["fits"]}
            expected = {iw: sum(size <= iw * mss for size in sizes) for iw in windows}
            assert counted == {iw: (count, count / len(sizes)) for iw, count in expected.items()}, mss
            assert all(fit["lower"] <= fit["share"] <= fit["upper"] for fit in distribution["fits"])
