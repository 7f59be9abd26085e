"""`firstflight metrics`: serves metrics for Prometheus."""

import threading

import click
from prometheus_client import CollectorRegistry

from firstflight.alerts import AlertError, find_place, forward_alerts
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
@click.option(
    "--alerts-of",
    "prometheus",
    metavar="URL",
    help="Send the alerts of this Prometheus to where FIRSTFLIGHT_ALERTS says.",
)
@click.pass_obj
def command(settings: Settings, *, host: str, port: int, prometheus: str | None) -> None:
    """Serve metrics of crawls, replays and the data folder at /metrics, counted when asked for. Ctrl-C ends
    it.

    \b
    Example:
      firstflight metrics
      firstflight metrics --host 0.0.0.0 --port 9750
      firstflight metrics --alerts-of http://127.0.0.1:9090
    """
    stop = threading.Event()
    with one_line(AlertError, DatabaseError, ListenError), database(settings) as engine:
        place = None if settings.alerts is None else find_place(settings.alerts)
        registry = CollectorRegistry()
        for collector in (Crawls(engine), Gate(settings.progress), Data(settings), Replays(settings.replays)):
            registry.register(collector)
        end = serve_metrics(registry, host, port)
        click.echo(f"metrics on http://{host}:{port}/metrics", err=True)
        if prometheus is not None:
            if place is None:
                click.echo("alerts go nowhere: FIRSTFLIGHT_ALERTS is not set", err=True)
            else:
                threading.Thread(target=forward_alerts, args=(place, prometheus, stop), daemon=True).start()
        try:
            stop.wait()
        finally:
            stop.set()
            end()
