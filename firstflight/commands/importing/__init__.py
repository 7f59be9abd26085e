"""`firstflight import`: what somebody else recorded or counted."""

import click

from firstflight.lazy import LazyGroup

PLACES = {
    "pages": f"{__name__}.pages:pages",
    **{name: f"{__name__}.files:{name}" for name in ("har", "cdp", "netlog")},
    "httparchive": f"{__name__}.httparchive:httparchive",
}


@click.group(cls=LazyGroup, places=PLACES)
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
      firstflight verify release 2025-08
      firstflight replay run --set pages=2025-08
    """
