"""`firstflight report`: the annual report."""

import click

from firstflight.lazy import LazyGroup

PLACES = {
    "ready": f"{__name__}.ready:ready",
    "build": f"{__name__}.build:build",
    "versions": f"{__name__}.versions:versions",
    "recompute": f"{__name__}.recompute:recompute",
    "draft": f"{__name__}.extracts:draft",
    "edition": f"{__name__}.extracts:edition",
    "withdraw": f"{__name__}.versions:withdraw_",
}


@click.group(cls=LazyGroup, places=PLACES)
def command() -> None:
    """Build the annual report and keep its versions, or tell whether a year is ready for it.

    \b
    Example:
      firstflight report ready --year 2026
      firstflight report build --year 2026
      firstflight report versions --year 2026
      firstflight report recompute 2026 v1 number-fits
      firstflight report draft --year 2026
      firstflight report edition editions/2026 --year 2026
      firstflight report withdraw --year 2026 --version 1 --reason "the replay had a wrong kernel"
    """
