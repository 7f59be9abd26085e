"""`firstflight metrics`: serves metrics for Prometheus."""

import threading

import click
from prometheus_client import CollectorRegistry

from firstflight.connect import database
from firstflight.errors import one_line
from firstflight.listening import ListenError, serve_metrics
from firstflight.metrics import Crawls, Data, Gate, Replays
from firstflight.settings import Settings
from storage.engine import DatabaseError


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=9750, show_default=True, help="Port to listen on."
)
@click.pass_obj
def command(settings: Settings, *, host: str, port: int) -> None:
    """Serve metrics of crawls, replays and the data folder at /metrics, counted when asked for. Ctrl-C ends
    it.

    \b
    Example:
      firstflight metrics
      firstflight metrics --host 0.0.0.0 --port 9750
    """
    with one_line(DatabaseError, ListenError), database(settings) as engine:
        registry = CollectorRegistry()
        for collector in (Crawls(engine), Gate(settings.progress), Data(settings), Replays(settings.replays)):
            registry.register(collector)
        end = serve_metrics(registry, host, port)
        click.echo(f"metrics on http://{host}:{port}/metrics", err=True)
        try:
            threading.Event().wait()
        finally:
            end()
