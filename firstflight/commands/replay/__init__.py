"""`firstflight replay`: build and test the lab, and replay the pages of a release in it."""

import click

from firstflight.commands.replay.backcast import run_backcast
from firstflight.commands.replay.lab import build_lab, run_selftest
from firstflight.commands.replay.reproduce import reproduce_results
from firstflight.commands.replay.run import run_replay


@click.group()
def command() -> None:
    """Replay the pages of a release over the Linux TCP stack, in a guest kernel with virtual time.

    \b
    Example:
      firstflight replay build-lab
      firstflight replay selftest
      firstflight replay run --set pages=2026-11
      firstflight replay reproduce cs244-2017
    """


for one in (build_lab, run_selftest, run_replay, reproduce_results, run_backcast):
    command.add_command(one)
