"""`firstflight serve`: serves the site and the API from the data folder."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from api.contact import Contact, ContactError
from firstflight import serving
from firstflight.errors import one_line
from firstflight.listening import PORT, ListenError, listen, serve_metrics
from firstflight.settings import Settings
from releases.outside.points import OutsideError
from releases.outside.points import load_points as outside_series
from replay.errors import ReplayError
from replay.lab import guest_process
from storage.steps import read_steps

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from api.lab.queue import Queue

NO_RELEASE = (
    "no release yet: run `firstflight demo`, or `firstflight release build` after a crawl; "
    "it will show up here"
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 for any.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    help="Port of the same address with metrics for Prometheus; none without it.",
)
@click.option(
    "--header-timeout",
    type=click.FloatRange(0.1, 60),
    default=serving.HEADER_TIMEOUT_S,
    show_default=True,
    help="Seconds for a request's header to be whole, and for a connection to stay without a request.",
)
@click.pass_obj
def command(
    settings: Settings, *, host: str, port: int, metrics_port: int | None, header_timeout: float
) -> None:
    """Serve releases and reports: web pages, the API, and the files. Ctrl-C ends it.

    It holds at most 2,048 connections, fewer where the hard limit of descriptors (ulimit -Hn) is below 4,224,
    and a quarter of them for one client. Strangers need a proxy in front for TLS: docs/operations.md.
    FIRSTFLIGHT_PUBLIC_BASE_URL is what links then begin with, in place of the address asked at;
    FIRSTFLIGHT_TRUSTED_HOSTS, separated by commas, are further names that requests may be for, and
    FIRSTFLIGHT_TRUSTED_PROXIES the addresses of proxies that name the client in X-Forwarded-For.

    With FIRSTFLIGHT_LAB=1 readers may have a page of their own replayed, at /lab: one at a time,
    60 s of a core each.

    \b
    Example:
      firstflight serve
      firstflight serve --host 0.0.0.0 --port 8080
      FIRSTFLIGHT_PUBLIC_BASE_URL=https://sizes.example firstflight serve
    """
    check_base_url(settings.public_base_url)
    check_proxies(settings.trusted_proxies)
    with one_line(ContactError):
        contact = Contact(url=settings.contact_url, email=settings.contact_email)
    with one_line(OutsideError):
        outside_points = outside_series(settings.outside)
    check_lab(settings)
    with one_line(ListenError):
        if metrics_port is not None:
            listen(host, metrics_port).close()  # the worker's, later: a port in use is told of here
        listening = listen(host, port)
    served_at = service_url(host, listening.getsockname()[1])
    click.echo(f"serving {settings.data_dir} on {served_at}/", err=True)

    def load() -> ASGIApp:
        # Imported by the worker alone: this process only watches over it, and stays small.
        from api.app import create_app
        from releases.catalogue import release_folders

        if not release_folders(settings.releases):
            click.echo(NO_RELEASE, err=True)
        registry = None
        if metrics_port is not None:
            from prometheus_client import CollectorRegistry  # takes 3 MB, and few services are metered

            registry = CollectorRegistry()
            serve_metrics(registry, host, metrics_port)
        return create_app(
            settings.releases,
            settings.reports,
            progress=settings.progress,
            allowed_signers=settings.allowed_signers,
            prepared=settings.cache_dir / "prepared",
            base_url=settings.public_base_url,
            listens_at=served_at,
            trusted_hosts=settings.trusted_hosts,
            metrics=registry,
            contact=contact,
            outside_points=outside_points,
            lab=make_lab_queue(settings),
        )

    serving.serve(listening, load, header_timeout_s=header_timeout, proxies=settings.trusted_proxies)


def service_url(host: str, port: int) -> str:
    """Return the service's URL on the machine itself.

    >>> service_url("0.0.0.0", 8080), service_url("::1", 8750)
    ('http://127.0.0.1:8080', 'http://[::1]:8750')
    """
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # it listens nowhere
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def check_lab(settings: Settings) -> None:
    """Refuse a lab that is not built: the operator is told, not the first reader. A demo that fills the
    folder builds it meanwhile.
    """
    if settings.has_lab and not read_steps(settings.progress):
        with one_line(ReplayError):
            guest_process.locate(settings.cache_dir)


def make_lab_queue(settings: Settings) -> Queue | None:
    from api.lab.process import replay_in_process
    from api.lab.queue import Queue

    return Queue(partial(replay_in_process, settings.cache_dir)) if settings.has_lab else None


def check_proxies(proxies: Iterable[str]) -> None:
    """Refuse what is no address or network: no connection would come from it."""
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as exc:
            raise click.ClickException(
                f"FIRSTFLIGHT_TRUSTED_PROXIES has {proxy!r}: it takes addresses and networks, "
                "as 127.0.0.1 or 172.18.0.0/16"
            ) from exc


def check_base_url(url: str) -> None:
    parts = urlsplit(url)
    is_origin = parts.scheme in ("http", "https") and parts.netloc and not (parts.query or parts.fragment)
    if url and (not is_origin or parts.path not in ("", "/")):
        raise click.ClickException(
            f"FIRSTFLIGHT_PUBLIC_BASE_URL is {url!r}: it takes scheme and host alone, "
            "as https://sizes.example"
        )
