"""Options and expected errors that the commands of `firstflight crawl` share."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from crawler.errors import CrawlerError
from firstflight.crawl_file import CrawlFile, read_crawl_file
from firstflight.errors import one_line
from storage.crawls import CrawlNotFound
from storage.engine import DatabaseError

EXPECTED = (CrawlerError, CrawlNotFound, DatabaseError)

FILE = click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
SETTINGS = click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="A value in place of the file's. Repeatable."
)


def read_asked(file: Path | None, given: Sequence[str]) -> CrawlFile:
    with one_line(msgspec.ValidationError, ValueError, OSError):
        return read_crawl_file(file, given)
