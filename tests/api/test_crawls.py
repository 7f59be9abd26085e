"""Pages of how far crawls are, from the files that crawlers write."""

import dataclasses
import datetime
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.crawls.routes import draw_hours
from api.drawing import NARROW as NARROW_WIDTH
from releases.formatting import NARROW
from storage.progress import Hour, read_progress, write_progress
from tests.api.conftest import HOUR

RUNNING, SEALED = "2026-12.desktop.local.tcp.web", "2026-11.desktop.local.tcp.web"
BAR = re.compile(r'<path d="M([\d.]+),([\d.]+)h([\d.]+)v(-?[\d.]+)h-[\d.]+Z" fill')
"""A bar: left and upper edge, width and height."""
AT = datetime.datetime(2026, 12, 1, 6, tzinfo=datetime.UTC)


def words(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.text.replace(NARROW, " ").split())


def test_the_index_has_running_and_sealed_crawls(client: TestClient) -> None:
    shown = words(client, "/crawls")
    assert f'<a href="/crawls/{RUNNING}">' in shown
    left = "1 800 visits an hour · about 4 h 20 min left, until <time"
    assert f"2 500 of 10 000 sites · {left}" in shown
    assert "2026-12-01 10:50 UTC</time>" in shown
    assert f'<a href="/crawls/{SEALED}">' in shown
    assert "<strong>1 failed</strong>" in shown
    assert "not released" in shown


def test_a_running_crawl_has_hours_lanes_bounds_failures_and_disk(client: TestClient) -> None:
    shown = words(client, f"/crawls/{RUNNING}")
    for part in (
        "8 being visited; 1 asked to be visited later",
        "Numbers of the last 3 hours",
        "It has not run on the crawl as it is.",
        ">at least 100 %</td>",
        ">at most 15 %</td>",
        ">25.0 %</td>",
        ">not yet</td>",
        ">crawler1/4711</th>",
        ">net::ERR_NAME_NOT_RESOLVED</td>",
        "(7.50 %) · <strong>less than a tenth is free</strong>",
    ):
        assert part in shown


def test_a_sealed_crawl_keeps_what_the_gate_said(client: TestClient) -> None:
    shown = words(client, f"/crawls/{SEALED}")
    assert "<strong>refused the crawl</strong>" in shown
    assert "<li>13 % of the names did not resolve</li>" in shown
    assert "left</" not in shown


def test_a_page_changes_with_the_progress(client: TestClient, data_dir: Path) -> None:
    before = client.get(f"/crawls/{RUNNING}")
    (one,) = (one for one in read_progress(data_dir / "progress") if one.crawl == RUNNING)
    write_progress(data_dir / "progress", dataclasses.replace(one, done=2501))
    assert client.get(f"/crawls/{RUNNING}").headers["etag"] != before.headers["etag"]
    assert "2 501 of" in words(client, "/crawls")


def test_a_short_name_leads_to_the_crawl_and_an_unknown_one_is_a_problem(client: TestClient) -> None:
    answer = client.get("/crawls/2026-12", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/crawls/{RUNNING}")
    answer = client.get("/crawls/2020-01", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (404, "no-such-progress")


def test_without_a_crawl_the_page_says_so(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path, tmp_path, progress=tmp_path / "none")) as client:
        assert "No crawl has reported to this data folder" in words(client, "/crawls")


@pytest.mark.parametrize("count", [1, 30, 240])
def test_bars_stand_side_by_side_within_the_drawing_and_as_high_as_their_counts(count: int) -> None:
    hours = [Hour(at=AT + place * HOUR, outcomes={"ok": 90, "dns": 10}) for place in range(count)]
    drawing = draw_hours(NARROW_WIDTH, hours)
    bars = [tuple(map(float, bar)) for bar in BAR.findall(drawing)]
    assert len(bars) == 2 * count
    arrived, missing = bars[::2], bars[1::2]
    starts = [left for left, *_ in arrived]
    assert starts == sorted(set(starts))
    assert starts[0] >= 0
    assert starts[-1] + arrived[-1][2] < NARROW_WIDTH
    for (_, _, _, low), (_, _, _, high) in zip(arrived, missing, strict=True):
        assert abs(low) == pytest.approx(9 * abs(high), rel=0.02)
    assert "page arrived" in drawing


def test_the_page_of_a_crawl_has_its_hours_as_a_picture(client: TestClient) -> None:
    (address,) = re.findall(r'src="([^"]*hours.svg[^"]*)"', client.get(f"/crawls/{RUNNING}").text)
    answer = client.get(address)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert BAR.search(answer.text)
