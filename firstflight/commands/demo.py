"""`firstflight demo`: runs the whole pipeline on the bundled web, with the commands that an operator uses."""

import contextlib
import dataclasses
import datetime
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from firstflight.errors import Stopped, one_line
from firstflight.listening import PORT
from firstflight.settings import Settings
from recordings.pages.recording import BUNDLED, files_of, read_source
from replay.errors import ReplayError
from replay.lab import guest_process
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

FEW_PAGES = 2
"""Pages of each other crawl than this month's: few, since these only stand beside this month,
and nothing is replayed of them."""

AT_LEAST_ONE = click.IntRange(min=1)


LOG = "log"
"""File with the commands of the demo and all that they print."""

LINES_SHOWN = 10
"""Last lines of the log that are shown of a command that failed."""

ENDS_WITHIN_S = 30
"""Time limit for a command to end after Ctrl-C."""


class StepFailed(click.ClickException):
    """A command of the demo failed; the message has its last lines."""


class Line:
    """Runs firstflight's commands in its own data folder, and writes what they print to a log."""

    def __init__(self, data_dir: Path) -> None:
        """Use `data_dir`, and always the embedded PostgreSQL: a demo must not write to an operator's."""
        self.log = data_dir / LOG
        self.environment = {
            **os.environ,
            "FIRSTFLIGHT_DATA_DIR": str(data_dir),
            "FIRSTFLIGHT_DATABASE_URL": "",
            "FIRSTFLIGHT_SIGNING_KEY": "",  # a demo's results are not evidence and must not be signed
            "FIRSTFLIGHT_LAB": "1",
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of one step."""
        return [sys.executable, "-m", "firstflight", *arguments]

    @contextlib.contextmanager
    def part(self, name: str, what: str, *, shown: bool = False) -> Iterator[None]:
        """Say on one line what the steps of the block do, and the time that they took; on two if what they
        print is shown."""
        began = time.monotonic()
        click.echo(f"{name:8} {what}", nl=shown, err=True)
        try:
            yield
        except BaseException:
            click.echo("", err=True)
            raise
        click.echo(f"  {time.monotonic() - began:.0f} s", err=True)

    def step(self, *arguments: str, shown: bool = False) -> None:
        """Run one command to its end; what it prints is shown, or goes to the log."""
        with self._begun(arguments, shown=shown) as process:
            code = process.wait()
        if code:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            last = "" if shown else "\n".join(["", *lines[-LINES_SHOWN:], f"({self.log} has all)"])
            raise StepFailed(f"`firstflight {' '.join(arguments)}` ended with exit code {code}{last}")

    @contextlib.contextmanager
    def _begun(self, arguments: Sequence[str], *, shown: bool = False) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command; Ctrl-C ends it once, and not by way of the terminal as well."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ firstflight {' '.join(arguments)}\n")
            log.flush()
            output = None if shown else log
            process = subprocess.Popen(
                self.command(*arguments),
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield process
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDS_WITHIN_S)
            raise
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()

    @contextlib.contextmanager
    def local_web(self, state: Path, pages: str | None) -> Iterator[None]:
        """Serve the bundled web by another process for the length of the block."""
        state.unlink(missing_ok=True)
        chosen = () if pages is None else ("--pages", pages)
        with self._begun(("localweb", "serve", "--mode", "recorded", "--state", str(state), *chosen)) as web:
            deadline = time.monotonic() + READY_WITHIN_S
            while not state.exists():
                if web.poll() is not None:
                    raise StepFailed(f"the local web ended with exit code {web.returncode}: {self.log}")
                if time.monotonic() > deadline:
                    raise StepFailed(f"the local web was not ready within {READY_WITHIN_S} s")
                time.sleep(0.1)
            yield

    def stop(self) -> None:
        """Stop the demo's PostgreSQL."""
        embedded.stop(Path(self.environment["FIRSTFLIGHT_DATA_DIR"]) / "postgres")

    @property
    def shown_by(self) -> str:
        """The command that serves what the demo has made, to be pasted into a shell."""
        names = ("FIRSTFLIGHT_DATA_DIR", "FIRSTFLIGHT_LAB")
        values = (f"{name}={shlex.quote(self.environment[name])}" for name in names)
        return " ".join((*values, program(), "serve"))


def program() -> str:
    """Return the name by which a shell finds `firstflight`: its path where it is not on PATH."""
    started = Path(sys.argv[0])
    if started.name != "firstflight" or not started.is_file():
        return f"{shlex.quote(sys.executable)} -m firstflight"
    on_path = shutil.which("firstflight")
    is_on_path = on_path is not None and Path(on_path).samefile(started)
    return "firstflight" if is_on_path else shlex.quote(str(started.absolute()))


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
    help="Number of pages, or their sites, comma-separated.  [default: all 30; of the recorded ones 20]",
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
@click.option("--seeds", type=AT_LEAST_ONE, default=2, show_default=True, help="Seeds of each replay cell.")
@click.option(
    "--months",
    type=click.IntRange(1, 12),
    default=3,
    show_default=True,
    help="Months to release in a row; all pages in the last of them, the first 2 in each before it. "
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

    All crawls run now. To make a series they bear the names of this month and of months before it;
    `visit.started_at` has the true time. The first 2 pages are also crawled under the name of this month a
    year ago, and as a phone, so that the explorer has two years and two devices to compare; the bundled web
    answers all alike. All results are illustrative.

    Results are in the folder `demo` of the data folder, and the commands with all that they print in its file
    `log`. Each run deletes the results of the run before.

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
        sizes = ("--set", f"max_networks={networks}", "--set", f"seeds={seeds}", "--guests", str(guests))
        try:
            if recorded:
                year = run_recorded(line, settings.cache_dir, pages=pages or RECORDED_PAGES, sizes=sizes)
            else:
                year = run(
                    line, settings.cache_dir, pages=pages, browsers=browsers, months=months, sizes=sizes
                )
        except KeyboardInterrupt:
            line.stop()
            raise Stopped("nothing of the demo runs any more; the same command begins it anew") from None
        (report,) = (report_version.folder for report_version in report_versions(folder / "reports" / year))
        click.echo("\n".join(result(line, report, seconds=time.monotonic() - began)))
    if serve:
        serve_results(line)


def result(line: Line, report: Path, *, seconds: float) -> list[str]:
    """State what the demo made, in five lines; the last are the command that shows it and the address to
    open."""
    facts = json.loads((report / "report.json").read_text(encoding="utf-8"))
    answer = facts["answer"]
    first, *_ = answer["numbers"]
    illustrative = " (illustrative)" if facts["is_illustrative"] else ""
    return [
        f"The whole line took {seconds:.0f} s; {line.log} has its commands and their output.",
        f"Answer of {facts['year']}{illustrative}: {answer['headline']}. {first['value']:.1f} "
        f"{first['unit']} {first['label']}.",
        f"Report: {report / 'index.html'}",
        f"See it: {line.shown_by}",
        f"Open:   http://127.0.0.1:{PORT}/",
    ]


def serve_results(line: Line) -> None:
    """Serve what the demo made until Ctrl-C."""
    with subprocess.Popen(line.command("serve"), env=line.environment) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            code = process.wait()
    if code:
        raise StepFailed(f"`firstflight serve` ended with exit code {code}")


def run(
    line: Line, cache: Path, *, pages: str | None, browsers: int, months: int, sizes: Sequence[str]
) -> str:
    """Run every step, from the list to the report; the report's year. `sizes` are options of the replay."""
    months_in_order = months_until(datetime.datetime.now(datetime.UTC).date(), months)
    *earlier, last = (CrawlName(month=month, kind="localweb") for month in months_in_order)
    beside = [last.year_before, dataclasses.replace(last, device="mobile")]
    crawls = [*beside, *earlier, last]
    sites, state = line.log.with_name("sites.txt"), line.log.with_name("localweb.json")
    with line.part("crawl", f"{len(crawls)} crawls of the bundled web"), line.local_web(state, pages):
        sites.write_text(
            "\n".join(json.loads(state.read_text(encoding="utf-8"))["sites"]) + "\n", encoding="utf-8"
        )
        line.step("list", "fetch", str(sites))
        for crawl in crawls:
            named = ("--crawl", crawl.month, "--device", crawl.device, "--kind", crawl.kind)
            few = () if crawl == last else ("--top", str(FEW_PAGES))
            line.step("crawl", "plan", *named, "--list", str(sites), *few)
            line.step(
                "crawl", "run", "--crawl", str(crawl), "--browsers", str(browsers), "--local-web", str(state)
            )
    with line.part("release", "a release of each, and a check of the last"):
        for crawl in crawls:
            line.step("crawl", "seal", "--crawl", str(crawl))
            line.step("release", "build", "--crawl", str(crawl))
        line.step("release", "verify", "--crawl", str(last))
        line.step("database", "stop")
    replay(line, cache, "--set", f"pages={last}", *sizes)
    return end(line, last.month, "--crawl", str(last))


def months_until(day: datetime.date, count: int) -> list[str]:
    """Return the month of a day and those before it, the earliest first.

    >>> months_until(datetime.date(2026, 2, 3), 3)
    ['2025-12', '2026-01', '2026-02']
    """
    number = 12 * day.year + day.month - 1
    return [f"{month // 12}-{month % 12 + 1:02}" for month in range(number - count + 1, number + 1)]


def run_recorded(line: Line, cache: Path, *, pages: str, sizes: Sequence[str]) -> str:
    """Run every step on the recorded pages, from the import to the report; the report's year.

    The sets of other years are imported for the page that shows them beside each other.
    """
    month = read_source(BUNDLED, files_of(BUNDLED)).month
    with line.part("release", f"recorded pages of {month} and of other years as releases, and a check"):
        line.step("import", "pages", "--all")
        line.step("release", "verify", "--crawl", month, "--offline")
    replay(line, cache, "--set", "pages=recorded", "--set", f"max_pages={pages}", *sizes)
    return end(line, month)


def replay(line: Line, cache: Path, *options: str) -> None:
    """Replay the pages; first wait for a lab that is still built, or build it."""
    try:
        guest_process.locate(cache)
    except ReplayError:
        with line.part("lab", "the kernel of the replay, which is compiled once", shown=True):
            line.step("replay", "build-lab", shown=True)
    with line.part("replay", "pages over the Linux TCP stack, window against window"):
        line.step("replay", "run", "demo", *options)


def end(line: Line, month: str, *crawl: str) -> str:
    """Build the report of a month's year and check everything; the year.

    `crawl` is an option of the report.
    """
    with line.part("report", f"the report for {month[:4]}"):
        line.step("report", "build", "--year", month[:4], *crawl)
    with line.part("verify", "a check of everything that is stored"):
        line.step("verify", "--offline")
    return month[:4]
