"""Options, checks of their values, and output that the commands of `firstflight crawl` share."""

import math

import click

from crawler.errors import CrawlerError
from storage.crawls import CrawlNotFound
from storage.engine import DatabaseError

EXPECTED = (CrawlerError, CrawlNotFound, DatabaseError)
"""Errors that end a command with one line and exit code 1."""


def finite(_: click.Context, __: click.Parameter, value: float) -> float:
    """Check that a number is finite: a range alone accepts "nan"."""
    if not math.isfinite(value):
        raise click.BadParameter("write a number")
    return value
