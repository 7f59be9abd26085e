"""`firstflight import har`, `import cdp` and `import netlog`:
releases of page loads that other tools recorded."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, MONTH, NEXT_VERSION, REASON, Pattern, show
from firstflight.commands.release import describe_imported, imported_facts
from firstflight.errors import one_line
from firstflight.recorded import import_files, read_files
from firstflight.settings import Settings
from recordings.exchange import RecordingError
from recordings.netlog.release import content_of as content_of_logs
from recordings.netlog.release import read_file as read_log
from recordings.page import describe_left_out
from recordings.pages.sets import WORD
from recordings.reading import CDP, HAR, read_file
from recordings.release import Content, File, content_of
from releases.build import Built
from releases.catalogue import ReleaseError
from storage.data_lock import InUse, making
from storage.signatures import SigningFailed

PATHS = click.Path(path_type=Path, exists=True, dir_okay=False)


DATA_SET = Pattern("text", WORD.pattern, "write it in a-z, 0-9 and -, at most 40 of them")


def options(function: Callable[..., None]) -> Callable[..., None]:
    for decorator in reversed(
        (
            click.argument("paths", type=PATHS, nargs=-1, required=True, metavar="PATH..."),
            click.option(
                "--id",
                "data_set",
                type=DATA_SET,
                required=True,
                help="Name of the data set, of a-z, 0-9 and -.",
            ),
            click.option(
                "--vantage",
                type=DATA_SET,
                default="unknown",
                show_default=True,
                help="Label of the place and network of the recording.",
            ),
            click.option(
                "--device",
                type=click.Choice(["desktop", "mobile", "unknown"]),
                default="unknown",
                show_default=True,
                help="Device of the recording.",
            ),
            click.option(
                "--source", default="not stated", show_default=True, help="Origin of the files, in words."
            ),
            click.option(
                "--licence", default="not stated", show_default=True, help="Licence of the recordings."
            ),
            click.option("--month", type=MONTH, help="Month of files that have no date."),
            NEXT_VERSION,
            REASON,
            click.option(
                "--strict",
                is_flag=True,
                help="Refuse what is left out otherwise: entries whose values cannot be true, "
                "and files without a page.",
            ),
            AS_JSON,
            click.pass_obj,
        )
    ):
        function = decorator(function)
    return function


@click.command()
@options
def har(settings: Settings, **given: Any) -> None:  # noqa: ANN401  # options, by name
    """Make a release of the first page of each HAR file, one for each month of recording.

    Any program's files will do, plain, gzipped or zipped. The column size_basis says of each size whether the
    program counted or stated it, or whether it is derived; what a file does not know or contradicts is null,
    with the reason (docs/recorded-files.md). Hosts are kept, paths and content are not. Entries whose values
    cannot be true, and files without a page that can be used, are left out and counted.

    \b
    Example:
      firstflight import har --id my-pages --vantage berlin page.har other.har.gz recorded.har.zip
      firstflight import har --id shop --device mobile --source "our own test of 3 May" *.har
      firstflight verify release 2026-05.mobile.unknown
    """
    run(settings, functools.partial(read_file, kind=HAR, strict=given["strict"]), content_of, **given)


@click.command()
@options
def cdp(settings: Settings, **given: Any) -> None:  # noqa: ANN401  # options, by name
    """Make a release of the first page of each DevTools log, one for each month of recording.

    A log is a JSON array of events of the domain Network, an object with `events`, or an event a line; each
    event bare or in a field `message`; plain, gzipped or zipped. What it does not know is null, with the
    reason (docs/recorded-files.md).

    \b
    Example:
      firstflight import cdp --id perflogs --vantage lab --device desktop *.json.gz
      firstflight import cdp --id perflogs --month 2018-04 old.json
    """
    run(settings, functools.partial(read_file, kind=CDP, strict=given["strict"]), content_of, **given)


@click.command()
@options
@click.option(
    "--pcap",
    "captures",
    type=PATHS,
    multiple=True,
    help="Packets captured on the same machine meanwhile, pcap or pcapng. Repeatable.",
)
def netlog(settings: Settings, captures: tuple[Path, ...], **given: Any) -> None:  # noqa: ANN401  # options, by name
    """Make a release of every page in NetLogs of Chrome, one for each month of recording.

    A log is what chrome://net-export or --log-net-log writes, whole or cut short, plain, gzipped or zipped.
    With the bytes of sockets in it (capture mode Everything, "include raw bytes") each response has the size
    that a crawl would count; without them sizes over HTTP/2 are unknown. Requests of extensions, of the
    browser itself and of other tabs' pages are left out and counted (docs/recorded-files.md).

    \b
    Example:
      firstflight import netlog --id my-pages --vantage berlin --device desktop chrome-net-export-log.json
      firstflight import netlog --id my-pages --pcap eth0.pcapng log.json.gz
    """
    read = functools.partial(read_log, captures=captures, strict=given["strict"])
    run(settings, read, content_of_logs, **given)


def run(
    settings: Settings,
    read: Callable[[Path], File],
    contents: Callable[..., Content],
    *,
    paths: tuple[Path, ...],
    data_set: str,
    month: str | None,
    version: int | None,
    reason: str | None,
    strict: bool,
    as_json: bool,
    **stated: str,
) -> None:
    with one_line(RecordingError, ReleaseError, SigningFailed, InUse), making(settings.data_dir):
        settings.check_signer()
        with progress_bar(settings, total=len(paths), unit="files") as bar:
            files = read_files(paths, read, strict=strict, progress=bar.update, refused=report_left_out)
        built = import_files(
            settings,
            files,
            contents,
            stated={"id": data_set, **stated},
            version=version,
            reason=reason,
            month=month,
        )
    show(
        [*map(imported_facts, built)],
        as_json=as_json,
        lines=[line for imported in built for line in describe_files(imported)],
    )


def report_left_out(reason: str) -> None:
    click.echo(f"left out: {' '.join(reason.split())}", err=True)


def describe_files(built: Built) -> Iterator[str]:
    recording = built.release.recording or {}
    bases = ", ".join(f"{count:,} {basis}" for basis, count in recording["responses_by_size_basis"].items())
    left_out = describe_left_out(recording.get("left_out") or {})
    return describe_imported(
        built,
        f"{recording['responses_of_known_size']:,} of {recording['requests']:,} responses have a known size "
        f"on the wire{f' ({bases})' if bases else ''}",
        *([f"left out: {left_out}"] if left_out else []),
    )
