"""`firstflight demo`: runs the whole pipeline on the bundled web, with the commands that an operator uses."""

import contextlib
import dataclasses
import datetime
import importlib
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import click

from api.processes import END_WITH_PARENT
from firstflight.bars import Reached, read_bar
from firstflight.errors import Stopped, one_line
from firstflight.listening import PORT
from firstflight.settings import Settings
from recordings.pages.sets import AUGUST_2025, SETS, read_source
from replay.errors import ReplayError
from replay.lab import guest_process, kernel
from schema.crawls import CrawlName
from storage import embedded
from storage.engine import DatabaseError
from storage.report_versions import put_editions, report_versions
from storage.steps import Step, remove_steps, write_steps

READY_WITHIN_S = 60
"""Seconds for the local web and the service, which start in one or two on an idle machine."""

MARKER = ".firstflight-demo"
"""File that marks a folder which the next demo may delete."""

EDITIONS = Path(__file__).parents[2] / "editions"
"""Not there in an installed wheel."""

RECORDED_PAGES = "20"
"""The fewest recorded pages that the rule decides on."""

FEW_PAGES = 2
"""Pages of crawls that only stand beside this month's."""

SERVING = "serving "

INSTALLING, PERCENT = "debian.lock", "debian.percent"
"""Files of the cache: scripts/setup locks one while it installs packages; one says how far it is."""

AT_LEAST_ONE = click.IntRange(min=1)


LOG = "log"

LINES_SHOWN = 10

LOOKED_AT_EVERY_S = 0.5

ENDS_WITHIN_S = 30

BUNDLED_WEB = {
    "recorded": "the pages that the edition was measured on",
    "packages": "Debian packages, which are installed beside",
    "crawl": "crawls of the bundled web",
    "release": "a release of each, and a check of the last",
    "lab": "the kernel of the replay, which is compiled once",
    "replay": "pages over the Linux TCP stack, window against window",
    "report": "the report",
    "verify": "a check of everything that is stored",
}

RECORDED_WEB = {
    "release": "recorded pages of all years as releases, and a check",
    **{name: BUNDLED_WEB[name] for name in ("packages", "lab", "replay", "report", "verify")},
}

COMMANDS = (
    *("importing.pages", "crawl.plan", "crawl.run", "crawl.end", "database", "list", "localweb", "release"),
    *("replay.run", "report.build", "verify"),
)


Count = Callable[[], Reached | None]

CLEARED = "\r\033[K"


def no_count() -> None: ...


class StepFailed(click.ClickException):
    """A command of the demo failed; the message has its last lines."""


class DemoRun:
    """Runs firstflight's commands in a data folder of their own, with a log and their progress."""

    def __init__(self, data_dir: Path, cache: Path, steps: Mapping[str, str] = BUNDLED_WEB) -> None:
        """Use the embedded PostgreSQL: a demo must not write to an operator's."""
        self.log = data_dir / LOG
        self.cache = cache
        self.environment = {
            **os.environ,
            "FIRSTFLIGHT_DATA_DIR": str(data_dir),
            "FIRSTFLIGHT_BAR_FILE": str(data_dir / "bar"),
            "FIRSTFLIGHT_DATABASE_URL": "",
            "FIRSTFLIGHT_SIGNING_KEY": "",  # a demo's results are not evidence and must not be signed
            "FIRSTFLIGHT_LAB": "1",
        }
        self._steps = {name: Step(name=name, what=what) for name, what in steps.items()}
        self._progress = data_dir / "progress"
        self._bar = data_dir / "bar"
        self._name, self._began = next(iter(steps)), time.monotonic()
        self._count: Count = no_count
        self._first: Reached | None = None
        self._counted, self._ended = 0, 0

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "firstflight", *arguments]

    def note(self, name: str, **facts: Any) -> None:  # noqa: ANN401  # fields of a step
        self._steps[name] = dataclasses.replace(self._steps[name], **facts)
        write_steps(self._progress, [*self._steps.values()])

    @contextlib.contextmanager
    def part(self, name: str, count: Count = no_count) -> Iterator[None]:
        """Show on a line what the block does, its progress, and its time."""
        for skipped in itertools.takewhile(name.__ne__, [*self._steps]):
            if self._steps[skipped].seconds is None:
                del self._steps[skipped]
        self._name, self._began = name, time.monotonic()
        self._count, self._first, self._counted, self._ended = count, None, 0, 0
        self.note(name, is_begun=True)
        if not sys.stderr.isatty():
            click.echo(self._steps[name], nl=False, err=True)
        try:
            yield
        except BaseException:
            click.echo("", err=True)
            raise
        seconds = round(time.monotonic() - self._began)
        self.note(name, seconds=seconds, done=0, total=None)
        shown = f"{CLEARED}{self._steps[name]}" if sys.stderr.isatty() else ""
        click.echo(f"{shown}  {seconds} s", err=True)

    def commands(self, total: int) -> Count:
        return lambda: Reached(done=self._ended, total=total, unit="commands")

    def bars(self, unit: str, total: int | None = None) -> Count:
        """Count what commands count in `unit`; of so many, or of what the one bar says."""

        def count() -> Reached | None:
            reached = read_bar(self._bar)
            if reached is None or reached.unit != unit:
                return None
            return dataclasses.replace(
                reached, done=self._counted + reached.done, total=total or reached.total
            )

        return count

    def look(self) -> None:
        if reached := self._count():
            self._first = self._first or reached
            elapsed_s = time.monotonic() - self._began
            self.note(
                self._name,
                **dataclasses.asdict(reached),
                seconds_left=seconds_left(self._first, reached, elapsed_s=elapsed_s),
            )
        if self._name != "lab" and (compiled := self.count_compiled()).done:
            self.note("lab", is_begun=True, **dataclasses.asdict(compiled))
        if sys.stderr.isatty():
            click.echo(f"{CLEARED}{self._steps[self._name]}", nl=False, err=True)

    def count_compiled(self) -> Reached:
        """Count the compiled files of the kernel, whichever process compiles it."""
        return Reached(
            done=kernel.count_compiled(self.cache / kernel.FOLDER), total=kernel.FILES, unit="files"
        )

    def wait_for_packages(self) -> None:
        """Wait for scripts/setup, which holds a lock while it installs Debian packages."""
        with contextlib.suppress(FileNotFoundError), (self.cache / INSTALLING).open() as lock:
            if kernel.try_lock(lock):
                return
            with self.part("packages", lambda: read_percent(self.cache / PERCENT)):
                while not kernel.try_lock(lock):
                    self.look()
                    time.sleep(LOOKED_AT_EVERY_S)

    def step(self, *arguments: str) -> None:
        self._bar.unlink(missing_ok=True)
        with self._begun(arguments) as process:
            while process.is_alive():
                process.join(LOOKED_AT_EVERY_S)
                self.look()
        if process.exitcode:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            last = "\n".join(["", *lines[-LINES_SHOWN:], f"({self.log} has all)"])
            raise StepFailed(
                f"`firstflight {' '.join(arguments)}` ended with exit code {process.exitcode}{last}"
            )
        self._ended += 1
        if reached := self._count():
            self._counted = reached.done

    @contextlib.contextmanager
    def _begun(self, arguments: Sequence[str]) -> Iterator[ForkProcess]:
        """Start a command; Ctrl-C reaches it once, not again through the terminal."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ firstflight {' '.join(arguments)}\n")
        process = get_context("fork").Process(
            target=run_command, args=(arguments, self.environment, self.log)
        )
        process.start()
        try:
            yield process
        except KeyboardInterrupt:
            interrupt(process)
            raise
        finally:
            process.terminate()
            process.join()

    @contextlib.contextmanager
    def local_web(self, state: Path, pages: str | None) -> Iterator[None]:
        state.unlink(missing_ok=True)
        chosen = () if pages is None else ("--pages", pages)
        with self._begun(("localweb", "serve", "--mode", "recorded", "--state", str(state), *chosen)) as web:
            deadline = time.monotonic() + READY_WITHIN_S
            while not state.exists():
                if not web.is_alive():
                    raise StepFailed(f"the local web ended with exit code {web.exitcode}: {self.log}")
                if time.monotonic() > deadline:
                    raise StepFailed(f"the local web was not ready within {READY_WITHIN_S} s")
                time.sleep(0.1)
            yield

    @contextlib.contextmanager
    def served(self, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
        self.note(next(iter(self._steps)))  # the service is told that there is something to come
        call = [*END_WITH_PARENT, *self.command("serve", "--host", host, "--port", str(port))]
        with (
            self.log.open("ab") as log,
            subprocess.Popen(
                call, env=self.environment, stdout=log, stderr=log, start_new_session=True
            ) as service,
        ):
            try:
                self._await_service(service, host, port)
                yield service
            finally:
                service.terminate()

    def _await_service(self, service: subprocess.Popen[bytes], host: str, port: int) -> None:
        """Wait for an answer of the service, once it has the port, which another program may have."""
        deadline = time.monotonic() + READY_WITHIN_S
        while SERVING not in (log := self.log.read_text(encoding="utf-8")):
            if service.poll() is not None or time.monotonic() > deadline:
                raise StepFailed(f"`firstflight serve` does not begin: {' '.join(log.split())}")
            time.sleep(0.1)
        with contextlib.closing(HTTPConnection(host, port, timeout=READY_WITHIN_S)) as connection:
            connection.request("GET", "/")
            connection.getresponse()

    def end(self) -> None:
        remove_steps(self._progress)

    def stop(self) -> None:
        embedded.stop(Path(self.environment["FIRSTFLIGHT_DATA_DIR"]) / "postgres")

    @property
    def shown_by(self) -> str:
        """The command, for a shell, that serves what the demo has made."""
        names = ("FIRSTFLIGHT_DATA_DIR", "FIRSTFLIGHT_LAB")
        values = (f"{name}={shlex.quote(self.environment[name])}" for name in names)
        return " ".join((*values, program(), "serve"))


def read_percent(file: Path) -> Reached | None:
    with contextlib.suppress(OSError, ValueError):
        return Reached(done=int(file.read_text(encoding="ascii")), total=100, unit="%")
    return None


def seconds_left(first: Reached, now: Reached, *, elapsed_s: float) -> int | None:
    """Return the estimate at the pace so far; None if unknown.

    >>> first, now = Reached(done=10, total=40, unit="loads"), Reached(done=20, total=40, unit="loads")
    >>> seconds_left(first, now, elapsed_s=5), seconds_left(first, first, elapsed_s=5)
    (10, None)
    """
    since = now.done - first.done
    return round(elapsed_s / since * (now.total - now.done)) if since > 0 and now.total else None


def import_commands() -> None:
    for name in COMMANDS:
        importlib.import_module(f"firstflight.commands.{name}")


def run_command(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    from firstflight.main import main

    os.setsid()
    with log.open("ab") as sink:
        for number in (1, 2):
            os.dup2(sink.fileno(), number)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    os.environ.update(environment)
    main(arguments, prog_name="firstflight")


def interrupt(process: ForkProcess) -> None:
    if process.pid is not None and process.is_alive():
        os.kill(process.pid, signal.SIGINT)
        process.join(ENDS_WITHIN_S)


def program() -> str:
    """Return the name by which a shell finds `firstflight`."""
    started = Path(sys.argv[0])
    if started.name != "firstflight" or not started.is_file():
        return f"{shlex.quote(sys.executable)} -m firstflight"
    on_path = shutil.which("firstflight")
    is_on_path = on_path is not None and Path(on_path).samefile(started)
    return "firstflight" if is_on_path else shlex.quote(str(started.absolute()))


def fresh_folder(folder: Path) -> Path:
    """Empty an earlier demo's folder, after stopping its database; refuse any other."""
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
    "--serve",
    is_flag=True,
    help="Serve what is there, from the repository's edition to the demo's own report, until Ctrl-C.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of --serve to listen on.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Port of --serve."
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
    host: str,
    port: int,
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

    With --serve the site is there from the beginning, with the edition of the repository and the pages that
    it was measured on; it shows how far everything else is, and has the demo's own report when that is done.

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
    with one_line(OSError, HTTPException, DatabaseError):
        folder = fresh_folder(settings.data_dir / "demo")
        put_editions(EDITIONS, folder / "reports")
        line = DemoRun(folder, settings.cache_dir, RECORDED_WEB if recorded else BUNDLED_WEB)
        began = time.monotonic()
        sizes = ("--set", f"max_networks={networks}", "--set", f"seeds={seeds}", "--guests", str(guests))
        with contextlib.ExitStack() as stack:
            stack.callback(line.end)
            service = stack.enter_context(line.served(host, port)) if serve else None
            if service:
                click.echo(f"serve    http://127.0.0.1:{port}/, which shows what follows", err=True)
            import_commands()
            try:
                if recorded:
                    year = run_recorded(line, pages=pages or RECORDED_PAGES, sizes=sizes)
                else:
                    year = run(line, pages=pages, browsers=browsers, months=months, sizes=sizes)
            except KeyboardInterrupt:
                line.stop()
                raise Stopped("nothing of the demo runs any more; the same command begins it anew") from None
            line.end()
            (report,) = (version.folder for version in report_versions(folder / "reports" / year))
            click.echo("\n".join(result(line, report, seconds=time.monotonic() - began, port=port)))
            if service:
                wait_for(service)


def result(line: DemoRun, report: Path, *, seconds: float, port: int) -> list[str]:
    """Return five lines; the last are the command that shows the demo and the address to open."""
    facts = json.loads((report / "report.json").read_text(encoding="utf-8"))
    answers = (facts["answer"], facts["verdict"])
    return [
        f"The whole line took {seconds:.0f} s; {line.log} has its commands and their output.",
        f"Your crawl: {' '.join(dict.fromkeys(said['headline'] for said in answers))}",
        f"Report: {report / 'index.html'}",
        f"See it: {line.shown_by}",
        f"Open:   http://127.0.0.1:{port}/",
    ]


def wait_for(service: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        if code := service.wait():
            raise StepFailed(f"`firstflight serve` ended with exit code {code}")


def run(line: DemoRun, *, pages: str | None, browsers: int, months: int, sizes: Sequence[str]) -> str:
    """Run every step; return the report's year. `sizes` are options of the replay."""
    months_in_order = months_until(datetime.datetime.now(datetime.UTC).date(), months)
    *earlier, last = (CrawlName(month=month, kind="localweb") for month in months_in_order)
    beside = [last.year_before, dataclasses.replace(last, device="mobile")]
    crawls = [*beside, *earlier, last]
    sites, state = line.log.with_name("sites.txt"), line.log.with_name("localweb.json")
    with line.part("recorded"):
        line.step("import", "pages")
    line.wait_for_packages()
    with line.local_web(state, pages):
        listed = json.loads(state.read_text(encoding="utf-8"))["sites"]
        sites.write_text("".join(f"{site}\n" for site in listed), encoding="utf-8")
        visits = len(listed) + min(FEW_PAGES, len(listed)) * (len(crawls) - 1)
        with line.part("crawl", line.bars("sites", visits)):
            line.step("list", "fetch", str(sites))
            for crawl in crawls:
                named = (
                    "--crawl",
                    crawl.month,
                    "--set",
                    f"device={crawl.device}",
                    "--set",
                    f"kind={crawl.kind}",
                )
                few = () if crawl == last else ("--set", f"top={FEW_PAGES}")
                line.step("crawl", "plan", *named, "--set", f"list={sites}", *few)
                ways = ("--set", f"browsers={browsers}", "--set", f"local_web={state}")
                line.step("crawl", "run", "--crawl", str(crawl), *ways)
    with line.part("release", line.commands(2 * len(crawls) + 2)):
        for crawl in crawls:
            line.step("crawl", "seal", "--crawl", str(crawl))
            line.step("release", "build", "--crawl", str(crawl))
        line.step("verify", "release", str(last))
        line.step("database", "stop")
    replay(line, "--set", f"pages={last}", *sizes)
    return end(line, last.month, "--crawl", str(last))


def months_until(day: datetime.date, count: int) -> list[str]:
    """Return months up to a day's, the earliest first.

    >>> months_until(datetime.date(2026, 2, 3), 3)
    ['2025-12', '2026-01', '2026-02']
    """
    number = 12 * day.year + day.month - 1
    return [f"{month // 12}-{month % 12 + 1:02}" for month in range(number - count + 1, number + 1)]


def run_recorded(line: DemoRun, *, pages: str, sizes: Sequence[str]) -> str:
    """Run every step on the recorded pages; return the report's year.

    Sets of other years are for the page that shows them beside each other.
    """
    month = read_source(SETS[AUGUST_2025]).month
    with line.part("release"):
        line.step("import", "pages", "--all")
        line.step("verify", "release", month, "--offline")
    line.wait_for_packages()
    replay(line, "--set", "pages=recorded", "--set", f"max_pages={pages}", *sizes)
    return end(line, month)


def replay(line: DemoRun, *options: str) -> None:
    try:
        guest_process.locate(line.cache)
    except ReplayError:
        with line.part("lab", line.count_compiled):
            line.step("replay", "build-lab")
    with line.part("replay", line.bars("loads")):
        line.step("replay", "run", "demo", *options)


def end(line: DemoRun, month: str, *crawl: str) -> str:
    """Build the report of a month's year and check everything; return the year. `crawl` is an option."""
    with line.part("report", line.bars("figures")):
        line.step("report", "build", "--year", month[:4], *crawl)
    with line.part("verify", line.bars("items")):
        line.step("verify", "--offline")
    return month[:4]
