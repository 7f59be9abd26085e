"""`firstflight demo`: runs the whole pipeline on the bundled web, with the commands that an operator uses."""

import contextlib
import dataclasses
import datetime
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from firstflight.errors import one_line
from firstflight.settings import Settings
from recordings.pages.recording import BUNDLED, bundled_files, read_source
from schema.crawls import CrawlName
from storage import embedded
from storage.engine import DatabaseError
from storage.report_versions import report_versions

READY_WITHIN_S = 60
"""Time limit for the local web to start; it takes one or two seconds on an idle machine."""


MARKER = ".firstflight-demo"
"""File that marks a demo's folder, which the next demo may delete."""

RECORDED_PAGES = "20"
"""Recorded pages that are replayed by default: the fewest that the rule decides on."""

FEW_PAGES = 5
"""Pages of each other crawl than this month's: few, since these only stand beside this month,
and nothing is replayed of them."""

AT_LEAST_ONE = click.IntRange(min=1)


class StepFailed(click.ClickException):
    """A command of the demo failed, and has printed the reason."""


class Line:
    """Runs firstflight's commands in its own data folder, and times them."""

    def __init__(self, data_dir: Path) -> None:
        """Use `data_dir` and always the embedded PostgreSQL:
        a demo must not write to an operator's database."""
        self.environment = {
            **os.environ,
            "FIRSTFLIGHT_DATA_DIR": str(data_dir),
            "FIRSTFLIGHT_DATABASE_URL": "",
            "FIRSTFLIGHT_SIGNING_KEY": "",  # a demo's results are not evidence and must not be signed
            "FIRSTFLIGHT_LAB": "1",
        }

    def command(self, *arguments: str) -> list[str]:
        """The command line of one step."""
        return [sys.executable, "-m", "firstflight", *arguments]

    def step(self, *arguments: str) -> None:
        """Run one command to its end."""
        click.secho("$ firstflight " + " ".join(arguments), bold=True, err=True)
        began = time.monotonic()
        code = subprocess.run(self.command(*arguments), env=self.environment, check=False).returncode
        if code:
            raise StepFailed(f"`firstflight {' '.join(arguments)}` ended with exit code {code}")
        click.echo(f"  took {time.monotonic() - began:.1f} s", err=True)

    @contextlib.contextmanager
    def local_web(self, state: Path, pages: str | None) -> Iterator[None]:
        """Serve the bundled web by another process for the length of the block."""
        state.unlink(missing_ok=True)
        chosen = () if pages is None else ("--pages", pages)
        arguments = ("localweb", "serve", "--mode", "recorded", "--state", str(state), *chosen)
        click.secho("$ firstflight " + " ".join(arguments) + " &", bold=True, err=True)
        web = subprocess.Popen(self.command(*arguments), env=self.environment)
        try:
            deadline = time.monotonic() + READY_WITHIN_S
            while not state.exists():
                if web.poll() is not None:
                    raise StepFailed(f"the local web ended with exit code {web.returncode}")
                if time.monotonic() > deadline:
                    raise StepFailed(f"the local web was not ready within {READY_WITHIN_S} s")
                time.sleep(0.1)
            yield
        finally:
            web.terminate()
            web.wait()


def fresh_folder(folder: Path) -> Path:
    """Empty the folder of an earlier demo, after stopping its database; refuse any other folder."""
    marker = folder / MARKER
    if folder.exists():
        if not marker.exists() and any(folder.iterdir()):
            raise click.ClickException(f"{folder} is no demo's: move it away, or set FIRSTFLIGHT_DATA_DIR")
        embedded.stop(folder / "postgres")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    marker.touch()
    return folder


@click.command()
@click.option(
    "--serve", is_flag=True, help="End by serving the releases, their series, the report and the lab."
)
@click.option(
    "--recorded",
    is_flag=True,
    help="Take recorded pages of August 2025 over networks of October 2025 instead of a "
    "crawl of the bundled web.",
)
@click.option(
    "--pages",
    help="Number of pages, or the sites of the pages to use.  [default: all 30; of the recorded ones 20]",
)
@click.option("--browsers", type=AT_LEAST_ONE, default=2, show_default=True, help="Browsers side by side.")
@click.option(
    "--guests",
    type=AT_LEAST_ONE,
    default=2,
    show_default=True,
    help="Replay guests side by side, one for each core.",
)
@click.option(
    "--networks",
    type=click.IntRange(2, 64),
    default=3,
    show_default=True,
    help="Networks of each page, of today's population.",
)
@click.option("--seeds", type=AT_LEAST_ONE, default=3, show_default=True, help="Seeds of each replay cell.")
@click.option(
    "--months",
    type=click.IntRange(1, 12),
    default=3,
    show_default=True,
    help="Months to release in a row; all pages in the last of them, the first 5 in each before it. "
    "The report is of the last.",
)
@click.pass_obj
def command(
    settings: Settings,
    *,
    serve: bool,
    recorded: bool,
    pages: str | None,
    browsers: int,
    guests: int,
    networks: int,
    seeds: int,
    months: int,
) -> None:
    """Run the whole pipeline on the bundled web: crawl, release, CDFs, replay, recommendation, report.

    With --recorded it starts from a release of pages that somebody else recorded: release, CDFs, replay,
    recommendation, report. Nothing is crawled, and everything is marked as recorded.

    All crawls are made now, in the names of this month and those before, so that there is a series:
    `visit.started_at` has the true time. The first 5 pages are also crawled in the name of this month a year
    ago, and as by a phone, for the explorer to set this year and last, and the two devices, side by side; the
    bundled web answers all alike. All are of the bundled web, and illustrative.

    Results are in the folder `demo` of the data folder. Each run deletes the results of the run before.

    \b
    Example:
      firstflight demo
      firstflight demo --serve
      firstflight demo --pages 5 --seeds 2
      firstflight demo --recorded
    """
    if recorded and pages is not None and not (pages.isascii() and pages.isdecimal() and int(pages)):
        raise click.BadParameter(f"{pages!r} is no number of recorded pages", param_hint="--pages")
    with one_line(OSError, DatabaseError):
        folder = fresh_folder(settings.data_dir / "demo")
        line = Line(folder)
        began = time.monotonic()
        sizes = ("--networks", str(networks), "--seeds", str(seeds), "--guests", str(guests))
        if recorded:
            year = run_recorded(line, pages=pages or RECORDED_PAGES, sizes=sizes)
        else:
            year = run(line, folder, pages=pages, browsers=browsers, months=months, sizes=sizes)
        (report,) = (one.folder for one in report_versions(folder / "reports" / year))
        click.echo((report / "summary.txt").read_text(encoding="utf-8"))
    click.echo(f"The whole line took {time.monotonic() - began:.0f} s. The report: {report / 'index.html'}")
    if serve:
        Line(folder).step("serve")


def run(
    line: Line, folder: Path, *, pages: str | None, browsers: int, months: int, sizes: Sequence[str]
) -> str:
    """Run every step, from the list to the report; the report's year. `sizes` are options of the replay."""
    months_in_order = months_until(datetime.datetime.now(datetime.UTC).date(), months)
    *earlier, last = (CrawlName(month=one, kind="localweb") for one in months_in_order)
    beside = [last.year_before, dataclasses.replace(last, device="mobile")]
    crawls = [*beside, *earlier, last]
    sites, state = folder / "sites.txt", folder / "localweb.json"
    with line.local_web(state, pages):
        sites.write_text(
            "\n".join(json.loads(state.read_text(encoding="utf-8"))["sites"]) + "\n", encoding="utf-8"
        )
        line.step("list", "fetch", str(sites))
        for one in crawls:
            named = ("--crawl", one.month, "--device", one.device, "--kind", one.kind)
            few = () if one == last else ("--top", str(FEW_PAGES))
            line.step("crawl", "plan", *named, "--list", str(sites), *few)
            line.step(
                "crawl", "run", "--crawl", str(one), "--browsers", str(browsers), "--local-web", str(state)
            )
    for one in crawls:
        line.step("crawl", "seal", "--crawl", str(one))
        line.step("release", "build", "--crawl", str(one))
    line.step("release", "verify", "--crawl", str(last))
    line.step("database", "stop")
    line.step("replay", "run", "--crawl", str(last), *sizes)
    return end(line, last.month, "--crawl", str(last))


def months_until(day: datetime.date, count: int) -> list[str]:
    """The month of a day and those before it, the earliest first.

    >>> months_until(datetime.date(2026, 2, 3), 3)
    ['2025-12', '2026-01', '2026-02']
    """
    number = 12 * day.year + day.month - 1
    return [f"{one // 12}-{one % 12 + 1:02}" for one in range(number - count + 1, number + 1)]


def run_recorded(line: Line, *, pages: str, sizes: Sequence[str]) -> str:
    """Run every step on the recorded pages, from the import to the report; the report's year."""
    month = read_source(BUNDLED, bundled_files()).month
    line.step("import", "pages")
    line.step("release", "verify", "--crawl", month, "--offline")
    line.step("replay", "run", "--recorded", "--pages", pages, *sizes)
    return end(line, month)


def end(line: Line, month: str, *crawl: str) -> str:
    """Build the report of a month's year and check everything; the year.

    `crawl` is an option of the report.
    """
    line.step("report", "build", "--year", month[:4], *crawl)
    line.step("verify", "--offline")
    return month[:4]
