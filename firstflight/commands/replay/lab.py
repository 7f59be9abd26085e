"""`firstflight replay build-lab` and `selftest`, and the choice of a lab."""

import sys
from pathlib import Path

import click

from firstflight.commands.options import AS_JSON, show
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.errors import ReplayError
from replay.lab import debian, guest_process, host, kernel, player
from replay.lab.guest_process import Lab
from replay.runs.guests import selftest

VIRTUAL, DEBIAN, HOST = "uml", "uml-debian", "host"
"""Our kernel in virtual time; Debian's in real time as a second opinion; the host's as a cross-check."""

which_lab = click.option(
    "--lab",
    "which",
    type=click.Choice([VIRTUAL, DEBIAN, HOST]),
    default=VIRTUAL,
    show_default=True,
    help="Our kernel in virtual time (uml), Debian's kernel (uml-debian) or the host's (host) in real "
    "time; host needs root and netem.",
)


@click.command("build-lab")
@click.pass_obj
def build_lab(settings: Settings) -> None:
    """Build the guest's kernel and programs, if they are not built yet.

    \b
    Example:
      firstflight replay build-lab
    """
    with one_line(ReplayError, OSError):
        kernel.build_kernel(settings.cache_dir, say)
        player.build_player(settings.cache_dir, say)


@click.command("selftest")
@which_lab
@AS_JSON
@click.pass_obj
def run_selftest(settings: Settings, *, which: str, as_json: bool) -> None:
    """Check the lab over every network profile: RTT, serialisation, windows of both ends, offloads, ARP.

    \b
    Example:
      firstflight replay selftest
    """
    with one_line(ReplayError, OSError):
        checks_by_profile = selftest(find_lab(settings.cache_dir, which))
    show(
        {name: [check.to_dict() for check in checks] for name, checks in checks_by_profile.items()},
        as_json=as_json,
        lines=[
            line
            for name, checks in checks_by_profile.items()
            for line in (click.style(name, bold=True), *(f"  {check}" for check in checks))
        ],
    )
    if not all(check.passed for checks in checks_by_profile.values() for check in checks):
        raise click.ClickException("a check failed: cells over this network would be refused")


def find_lab(cache: Path, which: str = VIRTUAL) -> Lab:
    """Return the programs of a lab; LabMissing if they are not built."""
    if which == DEBIAN:
        return debian.locate(player.locate(cache))
    if which == HOST:
        return host.locate(player.locate(cache))
    return guest_process.locate(cache)


def say(line: str) -> None:
    click.echo(line, err=True)
    sys.stderr.flush()
