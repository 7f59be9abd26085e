"""`firstflight report draft` and `edition`: what is taken from a published report."""

from pathlib import Path

import click

from firstflight.commands.options import OF_YEAR, VERSION
from firstflight.errors import one_line
from firstflight.settings import Settings
from reports.content import read_published
from reports.forms.draft import draft_xml, table_blocks
from reports.inputs.replays import ReportError
from reports.publishing.edition import write_edition
from storage.report_versions import (
    CONTENT,
    ReportVersion,
    ReportVersionError,
    find_version,
    newest_version,
    report_versions,
)
from storage.signatures import find_faults

WHICH_VERSION = click.option("--version", type=VERSION, help="Version of the report.  [default: the newest]")


def find_sound_version(settings: Settings, year: int, number: int | None) -> ReportVersion:
    """Return a version, by default the newest; ReportVersionError if it is withdrawn or damaged."""
    newest = newest_version(report_versions(settings.reports / str(year)))
    asked = find_version(settings.reports, year, number or (newest.number if newest else 1))
    if asked.withdrawal is not None:
        raise ReportVersionError(f"the report {asked} is withdrawn: {asked.withdrawal.reason}")
    if broken := find_faults(asked.folder, settings.allowed_signers):
        raise ReportVersionError(
            f"the report {asked.folder} is damaged ({', '.join(broken)}); restore it from a copy"
        )
    return asked


@click.command()
@OF_YEAR
@WHICH_VERSION
@click.option("--items", metavar="ID,ID", help="Only these tables, as blocks for a draft of your own.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write.  [default: standard output]",
)
@click.pass_obj
def draft(
    settings: Settings, *, year: int, version: int | None, items: str | None, output: Path | None
) -> None:
    """Write an Internet-Draft of a published report in RFCXML (version 3): at most 3,000 words, with the
    tables that a draft carries.

    Its references are complete, so that xml2rfc asks no network. Put your name in the place of "Your Name"
    and of `you`, and write the argument; the sections have the evidence. Ids of tables are in
    forms/index.json beside the report.

    \b
    Example:
      firstflight report draft --year 2026 --output draft-you-tcpm-iw-evidence-2026-00.xml
      xml2rfc --text --html draft-you-tcpm-iw-evidence-2026-00.xml
      firstflight report draft --year 2026 --items shares,verdicts
    """
    with one_line(ReportError, ReportVersionError, OSError):
        report = read_published(find_sound_version(settings, year, version).folder / CONTENT)
        if items is None:
            text = draft_xml(report)
        else:
            wanted, known = items.split(","), {table.id for table in report.tables()}
            if unknown := [item for item in wanted if item not in known]:
                raise ReportError(
                    f"the report has no table {unknown[0]!r}; it has: {', '.join(sorted(known))}"
                )
            text = table_blocks(report, wanted)
        if output is None:
            click.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@OF_YEAR
@WHICH_VERSION
@click.pass_obj
def edition(settings: Settings, *, folder: Path, year: int, version: int | None) -> None:
    """Write into FOLDER what a repository keeps of a published report, in place of an earlier edition: a
    README, the brief, the slide, the page, every number, the data of the figures and the loads.

    The paths are those of the version, so that `firstflight report recompute` reads a copy of FOLDER as one.
    At most 60 files of 6 MB. `scripts/edition` runs this at its end.

    \b
    Example:
      firstflight report edition editions/2026 --year 2026
    """
    with one_line(ReportError, ReportVersionError, OSError):
        files = write_edition(find_sound_version(settings, year, version), folder.resolve())
    click.echo(f"{folder}: {len(files)} files")
