"""`firstflight import`: what somebody else recorded or counted."""

import click

from firstflight.commands.importing.files import cdp, har, netlog
from firstflight.commands.importing.httparchive import httparchive
from firstflight.commands.importing.pages import pages


@click.group()
def command() -> None:
    """Make releases of pages that somebody else recorded, or take figures that somebody else counted.

    Everything that is made of recorded pages is marked as recorded;
    figures of others stand apart (the page /over-the-years).

    \b
    Example:
      firstflight import pages
      firstflight import har --id my-pages --vantage berlin *.har
      firstflight import netlog --id my-pages --vantage berlin chrome-net-export-log.json
      firstflight import httparchive bytesTotal.json
      firstflight release verify --crawl 2025-08
      firstflight replay run --set pages=2025-08
    """


for each in (pages, har, cdp, netlog, httparchive):
    command.add_command(each)
