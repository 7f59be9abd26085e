"""`firstflight crawl`: plan a crawl, run it, watch it, judge it and seal it."""

import click

from firstflight.commands.crawl import end, plan, run, status


@click.group()
def command() -> None:
    """Plan, run, watch, judge and seal a crawl.

    \b
    Example:
      firstflight crawl plan --crawl 2026-11 --list sites.txt --top 1000
      firstflight crawl run --crawl 2026-11 --browsers 2 --minutes 30
      firstflight crawl status --crawl 2026-11
      firstflight crawl gate --crawl 2026-11
      firstflight crawl seal --crawl 2026-11
    """


for each in (plan.plan, run.run, status.show_status, status.list_crawls, end.gate, end.seal):
    command.add_command(each)
