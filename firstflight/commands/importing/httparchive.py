"""`firstflight import httparchive`: points of outside series."""

import itertools
from pathlib import Path

import click

from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.outside.httparchive import read
from releases.outside.points import OutsideError, from_text, merge_points, to_text
from releases.outside.series import KINDS
from storage.staging import write_whole


@click.command()
@click.argument(
    "paths",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    nargs=-1,
    required=True,
    metavar="PATH...",
)
@click.pass_obj
def httparchive(settings: Settings, *, paths: tuple[Path, ...]) -> None:
    """Take newer points of outside series from files of HTTP Archive; `serve` shows them from its next start.

    PATH is a report's JSON (bytesTotal.json, bytesJs.json, reqJs.json) or its CSV with a column `measure`,
    figures of the Web Almanac as CSV with a column `crawl`, or a table of pervasive resources (.parquet:
    month, size_bytes, occurrences). The points that come with the code stay; of a point that both have, the
    imported one counts. A file that cannot be read stops the import, and nothing is written. Outside series
    stand apart: no release and no report uses them.

    \b
    Example:
      firstflight import httparchive bytesTotal.json
      firstflight import httparchive bytes_total.csv pervasive.parquet
    """
    with one_line(OutsideError, OSError):
        points = merge_points([], [point for path in paths for point in read(path)])
        written = []
        for series, new in itertools.groupby(
            sorted(points, key=lambda point: point.key), key=lambda point: point.series
        ):
            place = settings.outside / f"{series}.csv"
            old = from_text(place.read_text(encoding="utf-8")) if place.exists() else []
            written.append((place, merge_points(old, list(new)), series))
        settings.outside.mkdir(parents=True, exist_ok=True)
        for place, every, series in written:
            write_whole(place, to_text(every).encode())
            dates = [point.date for point in every]
            click.echo(
                f"{KINDS[series].title} ({series}): {len(every):,} points of {min(dates)} to {max(dates)}\n"
                f"{place}"
            )
