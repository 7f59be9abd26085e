"""`firstflight import har` and `firstflight import cdp`: releases of page loads that other tools recorded."""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from firstflight.commands.release import REASON, facts_of, line_of
from firstflight.errors import one_line
from firstflight.recorded_files import import_files
from firstflight.settings import Settings
from recordings.errors import RecordingError
from recordings.files.reading import CDP, HAR
from recordings.pages.recording import MONTH, WORD
from releases.build import Built
from releases.catalogue import ReleaseError
from storage.signatures import SigningFailed

PATHS = click.Path(path_type=Path, exists=True, dir_okay=False)


def word(_context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Check a label that becomes part of a release's name."""
    if not WORD.fullmatch(value):
        raise click.BadParameter("it must be of a-z, 0-9 and -, at most 40", param=parameter)
    return value


def month_of(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Check a month."""
    if value is not None and not MONTH.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no month YYYY-MM", param=parameter)
    return value


def options(function: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of every import of files."""
    for one in reversed(
        (
            click.argument("paths", type=PATHS, nargs=-1, required=True, metavar="PATH..."),
            click.option(
                "--id",
                "data_set",
                callback=word,
                required=True,
                help="Name of the data set, of a-z, 0-9 and -.",
            ),
            click.option(
                "--vantage",
                callback=word,
                default="unknown",
                show_default=True,
                help="Label of the place and network of the recording.",
            ),
            click.option("--device", type=click.Choice(["desktop", "mobile", "unknown"]), default="unknown"),
            click.option("--source", default="not stated", help="Whence the files are, in words."),
            click.option("--licence", default="not stated", help="Licence of the recordings."),
            click.option("--month", callback=month_of, help="Month YYYY-MM of files that have no date."),
            click.option(
                "--version",
                type=click.IntRange(1, 9999),
                help="Version to make; a higher one if the release must change.  [default: "
                "the newest version, or 1]",
            ),
            REASON,
            click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON."),
            click.pass_obj,
        )
    ):
        function = one(function)
    return function


@click.command()
@options
def har(settings: Settings, **given: Any) -> None:  # noqa: ANN401  # options, by name
    """Make a release of the first page of each HAR file, gzipped or not; of each month of recording one.

    Any program's files will do: what Playwright, Chrome, Firefox, WebPageTest, chrome-har and hdrgrab are
    known to count wrongly is repaired (docs/recorded-files.md). What a file does not know is null, with the
    reason. Hosts are kept, paths and content are not. A file that is damaged, too large or implausible stops
    the import, and nothing is written.

    \b
    Example:
      firstflight import har --id my-pages --vantage berlin page.har other.har.gz
      firstflight import har --id shop --device mobile --source "our own test of 3 May" *.har
      firstflight release verify --crawl 2026-05.mobile.unknown
    """
    run(settings, HAR, **given)


@click.command()
@options
def cdp(settings: Settings, **given: Any) -> None:  # noqa: ANN401  # options, by name
    """Make a release of the first page of each log of Chrome DevTools events; of each month of recording one.

    A log is a JSON array of events of the domain Network, each bare or in a field `message`, gzipped or not.
    What it does not know is null, with the reason (docs/recorded-files.md).

    \b
    Example:
      firstflight import cdp --id perflogs --vantage lab --device desktop *.json.gz
      firstflight import cdp --id perflogs --month 2018-04 old.json
    """
    run(settings, CDP, **given)


def run(
    settings: Settings,
    kind: str,
    *,
    paths: tuple[Path, ...],
    data_set: str,
    month: str | None,
    version: int | None,
    reason: str | None,
    as_json: bool,
    **stated: str,
) -> None:
    """Import the files and print what was made."""
    with one_line(RecordingError, ReleaseError, SigningFailed):
        if settings.signer is not None:
            settings.signer.check()
        with tqdm(total=len(paths), unit="file", file=sys.stderr, disable=None) as bar:
            built = import_files(
                settings,
                paths,
                kind,
                stated={"id": data_set, **stated},
                version=version,
                reason=reason,
                month=month,
                progress=functools.partial(bar.update, 1),
            )
    if as_json:
        click.echo(json.dumps([facts(one) for one in built], indent=2))
        return
    for one in built:
        told = facts(one)
        done = "imported" if one.is_new else "was there already, the same to the byte:"
        click.echo(f"{done} {line_of(told)}")
        recording = told["recording"]
        click.echo(
            f"recorded {recording['recorded']}: {recording['responses_of_known_size']:,} of "
            f"{recording['requests']:,} responses have a known size on the wire"
        )
        click.echo(told["path"])


def facts(built: Built) -> dict[str, Any]:
    """What is told of a release that was made or was there."""
    return {**facts_of(built.release), "new": built.is_new, "recording": built.release.recording or {}}
