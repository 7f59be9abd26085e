"""`firstflight serve`: the site and the API over what the data folder holds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click
import uvicorn
from prometheus_client import CollectorRegistry

from api.app import create_app
from api.contact import Contact, ContactError
from firstflight.errors import one_line
from firstflight.listening import ListenError, listen, serve_metrics
from schema.releases import release_folders

if TYPE_CHECKING:
    from firstflight.settings import Settings


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8750,
    show_default=True,
    help="Port to listen on; 0 for any.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    help="Port of the same address with metrics for Prometheus; none without it.",
)
@click.pass_obj
def command(settings: Settings, *, host: str, port: int, metrics_port: int | None) -> None:
    """Serve releases and reports: web pages, the API, and the files. Ctrl-C ends it.

    \b
    Example:
      firstflight serve
      firstflight serve --host 0.0.0.0 --port 8080
    """
    registry = None if metrics_port is None else CollectorRegistry()
    with one_line(ContactError):
        contact = Contact(url=settings.contact_url, email=settings.contact_email)
    app = create_app(
        settings.releases, settings.reports, progress=settings.progress, metrics=registry, contact=contact
    )
    with contextlib.ExitStack() as stack:
        with one_line(ListenError):
            listening = stack.enter_context(listen(host, port))
            if registry is not None and metrics_port is not None:
                stack.callback(serve_metrics(registry, host, metrics_port))
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
