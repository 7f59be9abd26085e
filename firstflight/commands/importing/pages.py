"""`firstflight import pages`: a release of nameless recorded pages."""

import json
from pathlib import Path

import click

from firstflight.commands.release import REASON, facts_of, line_of
from firstflight.errors import one_line
from firstflight.recorded_pages import import_pages
from firstflight.settings import Settings
from recordings.errors import RecordingError
from recordings.pages.recording import BUNDLED
from releases.catalogue import ReleaseError
from storage.signatures import SigningFailed


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=BUNDLED, required=False
)
@click.option(
    "--version",
    type=click.IntRange(1, 9999),
    help="Version to make; a higher one if the release must change.  [default: the newest version, or 1]",
)
@REASON
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
@click.pass_obj
def pages(
    settings: Settings,
    *,
    folder: Path,
    version: int | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Make a release of the recorded pages in FOLDER: pages.parquet, requests.parquet, source.json.

    Without FOLDER the bundled pages are taken: 591 of August 2025 (docs/recorded-pages.md). Connections are
    rebuilt and initiators inferred; recording.json in the release says how many, by which rule, and what is
    unknown. `firstflight replay run --recorded` imports the bundled pages by itself.

    \b
    Example:
      firstflight import pages
      firstflight import pages /data/pages-2026-02 --json
    """
    with one_line(RecordingError, ReleaseError, SigningFailed):
        if settings.signer is not None:
            settings.signer.check()
        built = import_pages(settings, folder, version=version, reason=reason)
        recording = built.release.recording or {}
    facts = {**facts_of(built.release), "new": built.is_new, "recording": recording}
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    done = "imported" if built.is_new else "was there already, the same to the byte:"
    inferred = recording["inferred"]
    click.echo(f"{done} {line_of(facts)}")
    click.echo(
        f"recorded {recording['recorded']}; inferred: {inferred['initiators']['share']:.1%} of the "
        f"initiators, the connection of {inferred['connections']['share']:.1%} of the responses"
    )
    click.echo(facts["path"])
