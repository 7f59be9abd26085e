"""`firstflight list`: lists of sites."""

from __future__ import annotations

import json
from pathlib import Path

import click

from crawler import lists
from firstflight.errors import one_line


@click.group()
def command() -> None:
    """Site lists.

    \b
    Example:
      firstflight list fetch sites.txt
    """


@command.command()
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
def fetch(source: Path, *, as_json: bool) -> None:
    """Check a list to its last line, and say its id, checksum and length.

    FILE holds a host a line, or RANK,HOST lines. International names become A-labels.

    \b
    Example:
      firstflight list fetch sites.txt
    """
    with one_line(lists.ListError):
        sites = lists.read(source)
    facts = {
        "id": sites.id,
        "source": sites.source,
        "checksum": sites.checksum,
        "entries": len(sites.entries),
        "first": sites.entries[0].host,
        "last": sites.entries[-1].host,
    }
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(
        f"{sites.id}: {len(sites.entries):,} sites, {facts['first']} to {facts['last']}, SHA-256 {sites.checksum}"
    )
