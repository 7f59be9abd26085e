"""Options and output that commands share."""

import json
from collections.abc import Iterable

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def show(facts: object, *, as_json: bool, lines: Iterable[str]) -> None:
    """Print facts as JSON, or the lines of text that say the same."""
    click.echo(json.dumps(facts, indent=2, default=str) if as_json else "\n".join(lines))
