"""The whole line in one command: real Chromium, PostgreSQL and kernel TCP, over a few of the bundled pages."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from releases.catalogue import Release, find_release, releases
from storage import embedded
from storage.sums import broken_sums, checksum_of

PAGES, NETWORKS, SEEDS = 4, 3, 2
WINDOWS = [3, 10, 16, 30]


@pytest.fixture
def data(server_folder: Path) -> Iterator[Path]:
    folder = server_folder / "line"
    yield folder
    embedded.stop(folder / "demo" / "postgres")


def run(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "firstflight", "demo", *options]
    environment = {**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data)}
    return subprocess.run(call, env=environment, capture_output=True, text=True, check=False)


def test_a_folder_that_is_no_demos_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "thesis.tex").write_text("years of work")
    done = run(tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "demo" / "thesis.tex").read_text() == "years of work"


def started(release: Release) -> list[datetime.datetime]:
    """When the visits of a release began."""
    found: list[datetime.datetime] = pq.read_table(release.file("visit"))["started_at"].to_pylist()
    return found


@pytest.mark.browser
@pytest.mark.lab
@pytest.mark.slow
def test_the_demo_goes_from_a_crawl_to_a_report_whose_numbers_can_be_traced(data: Path) -> None:
    done = run(data, "--pages", str(PAGES), "--seeds", str(SEEDS))
    assert done.returncode == 0, done.stderr

    demo = data / "demo"
    (report,) = demo.glob("reports/*/v1")
    assert str(report / "index.html") in done.stdout
    facts = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert facts["is_illustrative"]

    crawls = [one.crawl for one in releases(demo / "releases")]
    assert {one.kind for one in crawls} == {"localweb"}  # which marks them as illustrative
    months = sorted(one.month for one in crawls if one.device == "desktop")
    assert len(set(months)) == len(months) == 4
    year_before = find_release(demo / "releases", facts["release"]["crawl"]).crawl.year_before
    assert months[0] == year_before.month
    assert json.loads((report / "manifest.json").read_text())["year_before"]["crawl"] == str(year_before)
    assert [one.month for one in crawls if one.device == "mobile"] == months[-1:]
    assert facts["release"]["crawl"] == f"{months[-1]}.desktop.local.tcp.localweb"
    begun = [time for one in crawls for time in started(find_release(demo / "releases", str(one)))]
    assert max(begun) - min(begun) < datetime.timedelta(days=1)  # no time of observation is made up

    release = find_release(demo / "releases", facts["release"]["crawl"])
    sums = (release.path / "SHA256SUMS").read_bytes()
    assert facts["release"]["sha256"] == hashlib.sha256(sums).hexdigest()

    responses = pq.read_table(release.file("response"))
    visits = pq.read_table(release.file("visit"))
    final = visits.filter(pc.equal(visits["outcome"], "ok"))
    assert final.num_rows == PAGES
    sizes = responses.filter(pc.is_in(responses["visit_id"], final["id"].combine_chunks()))["wire_bytes"]
    fits = [size <= 10 * 1430 for size in sizes.to_pylist() if size is not None]
    (measure,) = (one for one in facts["sizes"]["measures"] if one["id"] == "responses")
    (share,) = (one for one in measure["shares"] if one["iw"] == 10)
    assert (measure["known"], share["fitting"]) == (len(fits), sum(fits))

    cells = pq.read_table(demo / "replays" / facts["release"]["crawl"] / "cells.parquet")
    assert cells.num_rows == PAGES * len(WINDOWS) * NETWORKS * SEEDS
    assert set(cells["state"].to_pylist()) == {"done"}
    assert all(one.startswith("mlab-2025-10-") for one in cells["profile"].to_pylist())

    replay = demo / "replays" / facts["release"]["crawl"]
    manifest = json.loads((replay / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["release"]["checksum"] == facts["release"]["sha256"]
    assert [set(ran) for ran in manifest["programs"]] == [{"kernel", "player"}]
    assert json.loads((report / "manifest.json").read_text())["replay"]["checksum"] == checksum_of(replay)
    assert broken_sums(replay) == broken_sums(report) == []
    assert "7 checked, none damaged" in done.stdout

    assert facts["recommendation"]["answer"] == "no change"  # four pages and two seeds are no evidence
    assert not facts["recommendation"]["is_decided"]
