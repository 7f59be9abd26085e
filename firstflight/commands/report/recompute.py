"""`firstflight report recompute`: a figure, table or number of a published report, computed again."""

import click

from firstflight.commands.options import YEAR, Pattern
from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError
from reports.inputs.replays import ReportError
from reports.inputs.report_inputs import Places
from reports.publishing.recompute import Recomputed, recompute_items
from storage.report_versions import ReportVersionError, find_version
from verdict.evidence import EvidenceError

DIFFERENT = 1
"""Exit code if a digit differs."""

ALL = "all"


def report_places(settings: Settings) -> Places:
    return Places(
        releases=settings.releases,
        replays=settings.replays,
        reports=settings.reports,
        backcast=settings.backcast,
        allowed_signers=settings.allowed_signers,
    )


@click.command()
@click.argument("year", type=YEAR)
@click.argument("version", type=Pattern("v1", r"v?[1-9][0-9]{0,3}", "write v1, v2, ..."))
@click.argument("item")
@click.pass_obj
def recompute(settings: Settings, *, year: int, version: str, item: str) -> None:
    """Compute ITEM, a figure, table or number of a published report, again and compare every digit;
    `all` for every item.

    It is computed from the release and the replay that the report's manifest names, or from the loads that
    the report carries, if the replay is not there. Its data are printed, and then "equal" or, with the lines
    in question, "differs"; the exit code is 1 if it differs. The ids of all items are in forms/index.json
    beside the report.

    \b
    Example:
      firstflight report recompute 2026 v1 cdf
      firstflight report recompute 2026 v1 number-fits
      firstflight report recompute 2026 v1 all
    """
    with one_line(ReportError, ReportVersionError, ReleaseError, EvidenceError, OSError):
        wanted = [] if item == ALL else [item]
        folder = find_version(settings.reports, year, int(version.removeprefix("v"))).folder
        recomputed = recompute_items(folder, wanted, places=report_places(settings))
    for entry in recomputed:
        print_comparison(entry, is_named=item == ALL)
    for note in dict.fromkeys(note for entry in recomputed for note in entry.notes):
        click.echo(f"computed {note}", err=True)
    if any(entry.differences for entry in recomputed):
        raise SystemExit(DIFFERENT)


def print_comparison(recomputed: Recomputed, *, is_named: bool) -> None:
    if not is_named:
        click.echo(recomputed.again, nl=False)
    for line in recomputed.differences:
        click.echo(line)
    outcome = "differs" if recomputed.differences else "equal"
    click.echo(f"{outcome} {recomputed.id}" if is_named else outcome)
