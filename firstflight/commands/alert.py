"""`firstflight alert`: sends a message to where alerts go."""

import socket

import click

from firstflight.alerts import AlertError, find_place
from firstflight.errors import one_line
from firstflight.settings import Settings


@click.command()
@click.argument("text", required=False)
@click.pass_obj
def command(settings: Settings, *, text: str | None) -> None:
    """Send TEXT, or a test message, to where alerts go.

    FIRSTFLIGHT_ALERTS says where: the URL of a webhook, which gets a POST with JSON that has a `text`, or a
    server that takes mail, and whom it is for. FIRSTFLIGHT_ALERTS_FILE names a file that has the URL.

    \b
    Example:
      firstflight alert
      FIRSTFLIGHT_ALERTS=https://chat.example.org/hook firstflight alert "the crawl is over"
      FIRSTFLIGHT_ALERTS=smtp://user:password@mail.example.org:587/ops@example.org firstflight alert
    """
    with one_line(AlertError):
        if settings.alerts is None:
            raise AlertError("alerts go nowhere: set FIRSTFLIGHT_ALERTS (`firstflight alert --help`)")
        place = find_place(settings.alerts)
        place.send(text or f"This is a test message of firstflight on {socket.gethostname()}.")
    click.echo(f"sent to {place.name}")
