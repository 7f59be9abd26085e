"""`firstflight doctor`: checks what this machine has and lacks."""

import dataclasses
import json

import click

from firstflight.checks import examine
from firstflight.commands.options import AS_JSON
from firstflight.settings import Settings

COLOURS = {"ok": "green", "warning": "yellow", "missing": "red"}


@click.command()
@AS_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """Check what this machine has and lacks, and say how to install it. Exit code 1 if something is missing.

    \b
    Example:
      firstflight doctor
      firstflight doctor --json
    """
    settings: Settings = ctx.obj
    findings = examine(settings)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            state = click.style(f"{finding.state:8}", fg=COLOURS[finding.state])
            remedy = f" -> {finding.remedy}" if finding.remedy else ""
            click.echo(f"{state} {finding.name:24} {finding.found}{remedy}")
    if any(finding.state == "missing" for finding in findings):
        ctx.exit(1)
