"""The whole line in one command: real Chromium, PostgreSQL and kernel TCP,
over a few of the bundled pages."""

import contextlib
import datetime
import fcntl
import functools
import hashlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page

from benchmarks.pages.browser import launch_browser
from firstflight.commands.demo import DemoRun, StepFailed, replay
from firstflight.errors import INTERRUPTED
from releases.catalogue import Release, find_release, releases
from storage import embedded
from storage.steps import Step, read_steps
from storage.sums import broken_sums
from tests.circles import ALL
from tests.firstflight.commands.served import WITHIN_S

pytestmark = pytest.mark.process

PAGES, NETWORKS, SEEDS, MONTHS = (4, 3, 2, 3) if ALL else (2, 2, 1, 1)
WINDOWS = [3, 10, 16, 30]


FIRSTFLIGHT = str(Path(sys.executable).with_name("firstflight"))


def run(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    call = [FIRSTFLIGHT, "demo", *options]
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


def begin(data: Path, *options: str) -> subprocess.Popen[str]:
    """Start a demo that serves from the beginning, and can be stopped as by Ctrl-C."""
    call = [FIRSTFLIGHT, "demo", "--serve", *options]
    environment = {**os.environ, "FIRSTFLIGHT_DATA_DIR": str(data)}
    heard = functools.partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # tests in the background hear none
    return subprocess.Popen(
        call,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_demo_serves_the_edition_before_it_crawls_and_stopped_leaves_nothing_running(
    server_folder: Path,
) -> None:
    folder, port = server_folder / "stopped", free_port()
    with begin(folder, "--port", str(port), "--pages", "1") as demo:
        assert demo.stderr is not None
        assert demo.stderr.readline() == f"serve    http://127.0.0.1:{port}/, which shows what follows\n"
        home = httpx2.get(f"http://127.0.0.1:{port}/", timeout=WITHIN_S).text
        assert home.index("The answer of 2026") < home.index("Your crawl") < home.index("It is being made")
        assert not list((folder / "demo" / "releases").glob("*"))
        deadline = time.monotonic() + WITHIN_S
        while not (folder / "demo/postgres/postmaster.pid").exists():
            assert time.monotonic() < deadline
            assert demo.poll() is None
            time.sleep(0.05)
        demo.send_signal(signal.SIGINT)
        _, errors = demo.communicate(timeout=WITHIN_S)
    assert demo.returncode == INTERRUPTED
    assert errors.splitlines()[-1] == (
        "stopped: nothing of the demo runs any more; the same command begins it anew"
    )
    assert embedded.postmaster(folder / "demo/postgres") is None
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"http://127.0.0.1:{port}/")
    assert not read_steps(folder / "demo" / "progress")


def test_a_step_that_fails_shows_its_last_lines_and_the_log(tmp_path: Path) -> None:
    line = DemoRun(tmp_path, tmp_path)
    with pytest.raises(StepFailed) as caught:
        line.step("crawl", "plna")
    lines = caught.value.message.splitlines()
    assert lines[0] == "`firstflight crawl plna` ended with exit code 2"
    assert lines[-2:] == [
        "Error: No such command 'plna'. Did you mean 'plan'?",
        f"({tmp_path / 'log'} has all)",
    ]


def test_a_lab_that_cannot_be_built_stops_the_demo_before_its_replay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "dpkg-query").symlink_to("/usr/bin/dpkg-query")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FIRSTFLIGHT_CACHE_DIR", str(tmp_path))
    with pytest.raises(StepFailed) as caught:
        replay(DemoRun(tmp_path, tmp_path))
    ended, *_, error, _ = caught.value.message.splitlines()
    assert ended == "`firstflight replay build-lab` ended with exit code 1"
    assert error.startswith("Error: to build the replay's kernel: apt-get install ")


def test_a_demo_waits_for_packages_and_says_how_many_percent_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = DemoRun(tmp_path / "demo", tmp_path)
    (tmp_path / "debian.percent").write_text("40\n")
    line.wait_for_packages()
    assert capsys.readouterr().err == ""

    def counted() -> list[tuple[Any, ...]]:
        steps = read_steps(tmp_path / "demo" / "progress")
        return [(step.done, step.total, step.unit) for step in steps if step.name == "packages"]

    with (tmp_path / "debian.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(line.wait_for_packages)
            deadline = time.monotonic() + WITHIN_S
            while (shown := counted()) != [(40, 100, "%")] and time.monotonic() < deadline:
                time.sleep(0.05)
            is_done = waiting.done()
            fcntl.flock(lock, fcntl.LOCK_UN)
            waiting.result(timeout=WITHIN_S)
    assert (shown, is_done) == ([(40, 100, "%")], False)


def started(release: Release) -> list[datetime.datetime]:
    started: list[datetime.datetime] = pq.read_table(release.file("visit"))["started_at"].to_pylist()
    return started


class Done(NamedTuple):
    """A demo that has made everything."""

    folder: Path
    printed: list[str]
    address: str
    steps: set[Step]
    """States of its steps that its readers saw."""


@pytest.fixture(scope="module")
def done(server_folder: Path) -> Iterator[Done]:
    """A demo of a few pages that has ended, and serves on."""
    folder, port = server_folder / "line", free_port()
    more = ("--networks", str(NETWORKS), "--months", str(MONTHS), "--port", str(port))
    with begin(folder, "--pages", str(PAGES), "--seeds", str(SEEDS), *more) as demo:
        assert demo.stdout is not None
        with ThreadPoolExecutor() as pool:
            printing = pool.submit(list, itertools.islice(demo.stdout, 5))
            steps = set()
            while not printing.done():
                steps |= {*read_steps(folder / "demo" / "progress")}
                time.sleep(0.2)
        assert demo.poll() is None, demo.communicate()
        yield Done(folder / "demo", printing.result(), f"http://127.0.0.1:{port}/", steps)
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=WITHIN_S)
    assert demo.returncode == 0
    embedded.stop(folder / "demo" / "postgres")


@pytest.mark.browser
@pytest.mark.lab
@pytest.mark.slow
def test_the_demo_says_how_far_its_crawls_releases_and_loads_are(done: Done) -> None:
    crawls = MONTHS + 2
    counted = {(step.name, step.unit): step.total for step in done.steps if step.total}
    assert counted["crawl", "sites"] == PAGES + 2 * (crawls - 1)
    assert counted["release", "commands"] == 2 * crawls + 2
    assert counted["replay", "loads"] == PAGES * len(WINDOWS) * NETWORKS * SEEDS
    assert any(0 < step.done < step.total and step.seconds_left for step in done.steps if step.total)
    assert read_steps(done.folder / "progress") == ()


@pytest.mark.browser
@pytest.mark.lab
@pytest.mark.slow
def test_the_demo_goes_from_a_crawl_to_a_report_whose_numbers_can_be_traced(done: Done) -> None:
    demo, printed, *_ = done
    (report,) = (folder for folder in demo.glob("reports/*/v1") if "edition" not in folder.parent.name)
    took, answer, where, command, _ = map(str.strip, printed)
    log = (demo / "log").read_text(encoding="utf-8")
    assert str(demo / "log") in took
    assert re.match(
        r"Your crawl: ([0-9]+.% of first flights fit into 10 segments\. )?By the bundled pages, illus", answer
    )
    assert where == f"Report: {report / 'index.html'}"
    assert command == f"See it: FIRSTFLIGHT_DATA_DIR={demo} FIRSTFLIGHT_LAB=1 {FIRSTFLIGHT} serve"
    facts = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert facts["is_illustrative"]

    crawls = [release.crawl for release in releases(demo / "releases") if release.crawl.kind != "recorded"]
    assert {crawl.kind for crawl in crawls} == {"localweb"}  # which marks them as illustrative
    months = sorted(crawl.month for crawl in crawls if crawl.device == "desktop")
    assert len(set(months)) == len(months) == MONTHS + 1
    year_before = find_release(demo / "releases", facts["release"]["crawl"]).crawl.year_before
    assert months[0] == year_before.month
    assert json.loads((report / "manifest.json").read_text())["year_before"]["crawl"] == str(year_before)
    assert [crawl.month for crawl in crawls if crawl.device == "mobile"] == months[-1:]
    assert facts["release"]["crawl"] == f"{months[-1]}.desktop.local.tcp.localweb"
    begun = [time for crawl in crawls for time in started(find_release(demo / "releases", str(crawl)))]
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
    (measure,) = (measure for measure in facts["sizes"]["measures"] if measure["id"] == "responses")
    (share,) = (share for share in measure["shares"] if share["iw"] == 10)
    assert (measure["known"], share["fitting"]) == (len(fits), sum(fits))

    (replay,) = (demo / "replays").glob(f"{facts['release']['crawl']}.*/stage-01")
    cells = pq.read_table(replay / "cells.parquet")
    assert cells.num_rows == PAGES * len(WINDOWS) * NETWORKS * SEEDS
    assert set(cells["state"].to_pylist()) == {"done"}
    assert all(profile.startswith("mlab-2025-10-") for profile in cells["profile"].to_pylist())

    manifest = json.loads((replay / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["release"]["checksum"] == facts["release"]["sha256"]
    assert [set(ran) for ran in manifest["programs"]] == [{"kernel", "player"}]
    stated = json.loads((report / "manifest.json").read_text())["replay"]
    assert stated["name"] == replay.parent.name.rpartition(".")[2]
    assert broken_sums(replay) == broken_sums(report) == []
    assert f"{MONTHS + 6} checked, none damaged" in log

    # The local web is no evidence, but has an answer by the same rule, with the back-cast that is shipped.
    assert facts["verdict"]["headline"].startswith("By the bundled pages, illustrative: ")
    assert facts["answer"]["kind"] == facts["verdict"]["kind"] != "no answer"
    assert "back-cast" not in facts["answer"]["confidence"]["because"]


@contextlib.contextmanager
def browsing(address: str) -> Iterator[Page]:
    """A page of Chromium at `address`, which must get no error from anything that it loads."""
    with launch_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(1000 * WITHIN_S)
        failed: list[str] = []
        page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
        page.goto(address)
        yield page
        assert failed == []


def follow(page: Page, link: str) -> None:
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("navigation", name="Service").get_by_role("link", name=link).click()


@pytest.mark.browser
@pytest.mark.lab
@pytest.mark.slow
def test_the_demo_is_served_with_its_months_in_a_series_the_history_the_explorer_and_the_lab(
    done: Done,
) -> None:
    demo, address = done.folder, done.address
    months = sorted(
        release.crawl.month
        for release in releases(demo / "releases")
        if (release.crawl.device, release.crawl.kind) == ("desktop", "localweb")
    )
    with browsing(address) as page:
        assert page.get_by_role("link", name="Read the report").first.is_visible()
        own = page.get_by_role("region", name=re.compile("of first flights fit into 10 segments"))
        assert own.get_by_role("link", name=f"{months[-1]}.desktop.local.tcp.localweb").is_visible()
        assert own.get_by_role("link", name="Read its report").is_visible()
        own.get_by_role("link", name="Explore it").click()
        page.locator("#figure .stage g.mark-line path").first.wait_for()
        by_month = page.locator("#details figure .stage")
        by_month.locator("g.mark-symbol path").first.wait_for()
        assert all(month in by_month.inner_text() for month in (months[0], months[-1]))
        page.get_by_text("Numbers by month").first.click()
        rows = page.get_by_role("group", name="Shares by month").get_by_role("row").all_inner_texts()
        with_shares = [row.split()[0] for row in rows if "%" in row]
        assert with_shares == months[::-1]
        assert [row.split()[0] for row in rows[1:][:MONTHS]] == with_shares[:MONTHS]  # no month is left out

        follow(page, "Over the years")
        assert page.get_by_role("heading", name="what fits into the first flight").is_visible()
        weights = page.get_by_role("img", name="Weight of the median home page")
        drawing = httpx2.get(weights.evaluate("image => image.currentSrc")).text
        lines = re.findall(r'<path d="(M[^"]*)" stroke="#', drawing)
        assert sum(line.count("L") > 5 for line in lines) > 3

        follow(page, "Lab")
        assert page.get_by_label("File").is_enabled()
        assert page.get_by_role("group", name="Networks").get_by_role("checkbox").count() > 1
        assert page.get_by_role("button", name="Replay").is_enabled()
