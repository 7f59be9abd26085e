"""`firstflight doctor`: checks what this machine has and lacks."""

import dataclasses

import click

from firstflight.checks import Finding, examine
from firstflight.commands.options import AS_JSON, show
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
    show(
        [*map(dataclasses.asdict, findings)],
        as_json=as_json,
        lines=map(describe_finding, findings),
    )
    if any(finding.state == "missing" for finding in findings):
        ctx.exit(1)


def describe_finding(finding: Finding) -> str:
    state = click.style(f"{finding.state:8}", fg=COLOURS[finding.state])
    return f"{state} {finding.name:24} {finding.found}" + (f" -> {finding.remedy}" if finding.remedy else "")
