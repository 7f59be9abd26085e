"""`firstflight report build`: a version of a year's report."""

import datetime
from pathlib import Path

import click

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, DAY, OF_YEAR, Pattern, Statement
from firstflight.commands.report.recompute import report_places
from firstflight.commit import code_commit
from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError
from reports.inputs.replays import ReportError
from reports.inputs.report_inputs import read_inputs
from reports.publishing.publish import NEXT, PublishedReport, Wanted, publish_report
from storage.data_lock import InUse, making
from storage.report_versions import CONTENT, PAGE, ReportVersionError
from storage.signatures import SigningFailed
from verdict.evidence import EvidenceError


@click.command()
@OF_YEAR
@click.option(
    "--crawl",
    help="Crawl of the year, as 2026-11 or by its whole name; the newest by default. "
    "Recorded pages may be of an earlier year.",
)
@click.option("--without-replay", is_flag=True, help="Report sizes only, without a recommendation.")
@click.option(
    "--replay",
    "which",
    metavar="REPLAY",
    multiple=True,
    help="The replay to take where a crawl's pages have several, by the eight characters at the end of its "
    "folder's name. Repeatable, for pages that are to confirm the answer.",
)
@click.option(
    "--loads",
    metavar="REPORT",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Judge the loads that the report in this folder carries, such as editions/2026, and load nothing.",
)
@click.option(
    "--version",
    metavar="N|next",
    type=Pattern("N|next", f"[1-9][0-9]{{0,3}}|{NEXT}", f"write a number from 1 to 9999, or {NEXT}"),
    help="Version to publish; `next` for the number after the newest if the content differs. "
    " [default: the first]",
)
@click.option("--reason", type=Statement(), help="Why a later version is made.")
@click.option("--corrects", type=Statement(), help="What a later version corrects in the one before.")
@click.option(
    "--date",
    type=DAY,
    metavar="YYYY-MM-DD",
    help="Day of the publication; the same day makes a byte-for-byte copy.  [default: today]",
)
@AS_JSON
@click.pass_obj
def build(
    settings: Settings,
    *,
    year: int,
    crawl: str | None,
    without_replay: bool,
    which: tuple[str, ...],
    loads: Path | None,
    version: str | None,
    reason: str | None,
    corrects: str | None,
    date: datetime.datetime | None,
    as_json: bool,
) -> None:
    """Build a year's report from its release and the replay of its pages: HTML, JSON and a summary.

    Replays of other pages that were loaded to confirm the answer (`firstflight replay confirm`) are
    found by themselves, and judged with it; standard error names all.

    A published version is never replaced: what differs becomes the next version, with a reason and what it
    corrects. A report whose content is equal to the newest version's is not published again, and that is no
    failure.

    An input that contradicts its checksums, or whose signature is invalid, is refused. The report is signed
    if FIRSTFLIGHT_SIGNING_KEY names a key.

    \b
    Example:
      firstflight report build --year 2026
      firstflight report build --year 2026 --crawl 2026-11 --json
      firstflight report build --year 2026 --replay 0e5c2f1a
      firstflight report build --year 2026 --crawl 2025-08 --loads editions/2026 --version 2 --reason "plainer words" --corrects "the headline"
      firstflight report build --year 2026 --version 2 --reason "two sites were withdrawn" --corrects "shares by up to 0.1 %"
      firstflight report build --year 2026 --version next --reason "yearly run" --corrects "nothing that is known"
    """  # noqa: E501
    if sum(map(bool, (without_replay, which, loads))) > 1:
        raise click.UsageError("give one of --replay, --loads and --without-replay")
    day = (date or datetime.datetime.now(datetime.UTC)).date().isoformat()
    number = int(version) if version and version != NEXT else None
    wanted = Wanted(version=NEXT if version == NEXT else number, reason=reason, corrects=corrects, date=day)
    with (
        one_line(ReportError, ReportVersionError, ReleaseError, EvidenceError, SigningFailed, InUse, OSError),
        making(settings.data_dir),
        progress_bar(settings, unit=" figures", desc="judging") as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.set_description("drawing")
            bar.update(done - bar.n)

        settings.check_signer()
        inputs = read_inputs(
            report_places(settings),
            year=year,
            crawl=crawl,
            with_replay=not without_replay,
            which=which,
            carried=loads,
        )
        for replay in (inputs.replay, *inputs.replay.confirming) if inputs.replay else ():
            click.echo(f"replay {replay.crawl}.{replay.name}", err=True)
        published = publish_report(
            inputs,
            settings.reports,
            wanted,
            commit=code_commit(settings.commit),
            allowed_signers=settings.allowed_signers,
            signer=settings.signer,
            progress=progress,
        )
    print_published(published, as_json=as_json)


def print_published(published: PublishedReport, *, as_json: bool) -> None:
    version = published.version
    if not published.is_new:
        click.echo(
            f"version {version.number} is there already with equal content (sha256 "
            f"{published.digest}): nothing new is published",
            err=True,
        )
    output = (
        (version.folder / CONTENT).read_text(encoding="utf-8") if as_json else f"{version.folder / PAGE}\n"
    )
    click.echo(output, nl=False)
