"""`firstflight crawl`: plan a crawl, run it, watch it, judge it and seal it."""

import click

from firstflight.lazy import LazyGroup

PLACES = {
    "plan": f"{__name__}.plan:plan",
    "run": f"{__name__}.run:run",
    "status": f"{__name__}.status:show_status",
    "list": f"{__name__}.status:list_crawls",
    "gate": f"{__name__}.end:gate",
    "seal": f"{__name__}.end:seal",
}


@click.group(cls=LazyGroup, places=PLACES)
def command() -> None:
    """Plan, run, watch, judge and seal a crawl.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --set list=sites.txt --set top=1000
      firstflight crawl run --crawl 2026-11 --set browsers=4
      firstflight crawl status --crawl 2026-11
      firstflight crawl gate --crawl 2026-11
      firstflight crawl seal --crawl 2026-11
    """
