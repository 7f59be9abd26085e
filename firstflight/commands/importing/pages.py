"""`firstflight import pages`: a release of nameless recorded pages."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from firstflight.commands.options import AS_JSON, NEXT_VERSION, REASON
from firstflight.commands.release import describe_imported, imported_facts
from firstflight.errors import one_line
from firstflight.recorded import import_once, import_pages
from firstflight.settings import Settings
from recordings.exchange import RecordingError
from recordings.pages.sets import AUGUST_2025, SETS
from releases.build import Built
from releases.catalogue import ReleaseError
from storage.data_lock import InUse, making
from storage.signatures import SigningFailed


@click.command()
@click.argument("sets", nargs=-1)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every set that comes with the code; an older release of one gets a next version beside it.",
)
@NEXT_VERSION
@REASON
@AS_JSON
@click.pass_obj
def pages(
    settings: Settings,
    *,
    sets: tuple[str, ...],
    every: bool,
    version: int | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Make a release of each of the recorded SETS: an id, or a folder.

    Without SETS the 591 pages of August 2025 are taken. With the code come also tranco-2024-11,
    tranco-2023-11, tranco-2023-11b, wpt-2019-12, lh-kenya-2020-07, lh-gov-europe-2021-03, and of images
    mobile-images-2022-05 and phantomjs-2013-09 (docs/recorded-pages.md). A folder has a Parquet file for each
    table of a release, and set.json. What was inferred and what is unknown is in recording.json.
    `firstflight replay run edition` imports August's by itself.

    \b
    Example:
      firstflight import pages
      firstflight import pages --all
      firstflight import pages tranco-2023-11 tranco-2024-11
      firstflight import pages /data/pages-2026-02 --json
    """
    if every and sets:
        raise click.UsageError("name sets, or take --all")
    folders = [find_set(recorded_set) for recorded_set in (sorted(SETS) if every else sets or [AUGUST_2025])]
    with one_line(RecordingError, ReleaseError, SigningFailed, InUse), making(settings.data_dir):
        settings.check_signer()
        imported = []
        for folder in folders:
            if every and version is None and reason is None:
                built = import_once(settings, folder)
            else:
                built = import_pages(settings, folder, version=version, reason=reason)
            imported.append(imported_facts(built))
            if not as_json:
                click.echo("\n".join(describe_pages(built)))
    if as_json:
        click.echo(json.dumps(imported[0] if len(imported) == 1 else {"releases": imported}, indent=2))


def find_set(name: str) -> Path:
    folder = SETS.get(name, Path(name))
    if not folder.is_dir():
        raise click.UsageError(f"{name} is no folder, and none of the sets {', '.join(sorted(SETS))}")
    return folder


def describe_pages(built: Built) -> Iterator[str]:
    inferred = (built.release.recording or {})["inferred"]
    initiators, connections = (inferred[what]["share"] or 0 for what in ("initiators", "connections"))
    return describe_imported(
        built,
        f"inferred are {initiators:.1%} of the initiators, and the connection of {connections:.1%} "
        "of the responses",
    )
