"""`firstflight serve`: the site and the API over what the data folder holds."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

import click
import uvicorn

from api.app import create_app
from firstflight.errors import one_line
from schema.releases import release_folders

if TYPE_CHECKING:
    from firstflight.settings import Settings


class ListenError(Exception):
    """The address cannot be listened on."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket: bound here, so that a port in use is an answer and not a log line."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128
        )
    except (OSError, OverflowError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise ListenError(
            f"cannot listen on {host}, port {port}: {reason}; choose another with --host and --port"
        ) from exc


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8750,
    show_default=True,
    help="Port to listen on; 0 for any.",
)
@click.pass_obj
def command(settings: Settings, *, host: str, port: int) -> None:
    """Serve releases and reports: web pages, the API, and the files. Ctrl-C ends it.

    \b
    Example:
      firstflight serve
      firstflight serve --host 0.0.0.0 --port 8080
    """
    app = create_app(settings.releases, settings.reports)
    with one_line(ListenError):
        listening = listen(host, port)
    with listening:
        name = f"[{host}]" if ":" in host else host
        click.echo(f"serving {settings.data_dir} on http://{name}:{listening.getsockname()[1]}/", err=True)
        if not release_folders(settings.releases):
            click.echo(
                "no release yet: run `firstflight demo`, or `firstflight release build` after a crawl; it will show up here",
                err=True,
            )
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", server_header=False))
        # uvicorn shuts down in order, and then raises the signal that it was stopped by once more.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
