"""`firstflight report recompute`: a figure, table or number of a published report, computed again."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import click

from firstflight.commands.report_versions import YEARS
from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError
from reports.inputs.errors import ReportError
from reports.recomputation.recompute import Places
from reports.recomputation.recompute import recompute as computed_again
from reports.statistics.paired_loads import CellsError
from storage.report_versions import ReportVersionError, find_version
from storage.sums import manifest_of

DIFFERENT = 1
"""Exit code if a digit differs."""


def version_number(_: click.Context, __: click.Parameter, value: str) -> int:
    """The number of a version that is written as in links, `v1`."""
    digits = value.removeprefix("v")
    if not (digits.isascii() and digits.isdecimal() and 1 <= int(digits) <= 9999):
        raise click.BadParameter(f"{value!r} is no version: write v1, v2, ...")
    return int(digits)


def folder_of(reports: Path, year: int, version: int) -> Path:
    """The folder of a version: in the data folder, or else the edition that comes with the code; ReportVersionError if there is none."""
    try:
        return find_version(reports, year, version).folder
    except ReportVersionError:
        edition = Path(str(importlib.resources.files("docs"))) / f"edition-{year}"
        if not edition.is_dir() or manifest_of(edition)["publication"]["version"] != version:
            raise
        return edition


@click.command()
@click.argument("year", type=YEARS)
@click.argument("version", callback=version_number)
@click.argument("item")
@click.pass_obj
def recompute(settings: Settings, *, year: int, version: int, item: str) -> None:
    """Compute ITEM, a figure, table or number of a published report, again and compare every digit.

    It is computed from the release and the replay that the report's manifest names. Its data are printed, and then
    "equal" or, with the lines in question, "differs"; the exit code is 1 if it differs. The ids of all items are in
    forms/index.json beside the report. A version that the data folder lacks is read from docs/edition-YEAR, if the code
    comes with it.

    \b
    Example:
      firstflight import pages                            # the release of the edition that comes with the code
      firstflight report recompute 2026 v1 cdf
      firstflight report recompute 2026 v1 number-fits
    """
    places = Places(
        releases=settings.releases,
        replays=settings.replays,
        reports=settings.reports,
        backcast=settings.backcast,
        allowed_signers=settings.allowed_signers,
    )
    with one_line(ReportError, ReportVersionError, ReleaseError, CellsError, OSError):
        found = computed_again(folder_of(settings.reports, year, version), item, places=places)
    click.echo(found.again, nl=False)
    for line in found.differences:
        click.echo(line)
    click.echo("differs" if found.differences else "equal")
    if found.differences:
        raise SystemExit(DIFFERENT)
