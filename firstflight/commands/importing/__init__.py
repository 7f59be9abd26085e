"""`firstflight import`: what somebody else recorded or counted."""

from __future__ import annotations

import click

from firstflight.commands.importing.files import cdp, har
from firstflight.commands.importing.pages import pages


@click.group()
def command() -> None:
    """Make releases of pages that somebody else recorded. Everything made of them is marked as recorded.

    \b
    Example:
      firstflight import pages
      firstflight import har --id my-pages --vantage berlin *.har
      firstflight release verify --crawl 2025-08
      firstflight replay run --crawl 2025-08 --pages 50
    """


for each in (pages, har, cdp):
    command.add_command(each)
