"""`firstflight replay`: build and test the lab, and replay the pages of a release in it."""

import click

from firstflight.lazy import LazyGroup

PLACES = {
    "build-lab": f"{__name__}.lab:build_lab",
    "selftest": f"{__name__}.lab:run_selftest",
    "run": f"{__name__}.run:run_replay",
    "confirm": f"{__name__}.confirm:confirm_answer",
    "reproduce": f"{__name__}.reproduce:reproduce_results",
    "backcast": f"{__name__}.backcast:run_backcast",
}


@click.group(cls=LazyGroup, places=PLACES)
def command() -> None:
    """Replay the pages of a release over the Linux TCP stack, in a guest kernel with virtual time.

    \b
    Example:
      firstflight replay build-lab
      firstflight replay selftest
      firstflight replay run --set pages=2026-11
      firstflight replay confirm
      firstflight replay reproduce cs244-2017
    """
