"""Options, checks of their values, and output that the commands of `firstflight crawl` share."""

import math
import re

import click

from crawler.errors import CrawlerError
from storage.crawls import CrawlNotFound
from storage.engine import DatabaseError

EXPECTED = (CrawlerError, CrawlNotFound, DatabaseError)
"""Errors that end a command with one line and exit code 1."""

CRAWL = click.option(
    "--crawl", "name", required=True, help="Name of the crawl, or a unique beginning of it, such as 2026-11."
)


def month(_: click.Context, __: click.Parameter, value: str) -> str:
    """Check that a month is written YYYY-MM."""
    if not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise click.BadParameter("a crawl is planned for a month, written 2026-11")
    return value


def label(_: click.Context, __: click.Parameter, value: str) -> str:
    """Check a part of a crawl's name, which stands in paths and between dots."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", value, re.ASCII):
        raise click.BadParameter("write it in a-z, 0-9 and -, at most 32 of them")
    return value


def finite(_: click.Context, __: click.Parameter, value: float) -> float:
    """Check that a number is finite: a range alone accepts "nan"."""
    if not math.isfinite(value):
        raise click.BadParameter("write a number")
    return value


def header(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Check that a value may stand in an HTTP header."""
    if value is not None and not re.fullmatch(r"[!-~]([ -~]{0,498}[!-~])?", value):
        raise click.BadParameter("write it in printable ASCII, at most 500 characters")
    return value
