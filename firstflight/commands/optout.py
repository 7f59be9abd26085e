"""`firstflight optout`: sites that are left out of crawls, and erased if they ask for it."""

from collections.abc import Iterator

import click
import duckdb

from crawler.sites import lists, optout
from crawler.sites.lists import ListError
from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, show
from firstflight.connect import database, database_url
from firstflight.erasing import ErasureError, ErasurePlaces, Journal, Survey, erase, journal, survey
from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError
from releases.publish import StoreError
from schema.crawls import name_of
from storage.data_lock import InUse
from storage.engine import DatabaseError
from storage.signatures import SigningFailed

EXPECTED = (
    ListError,
    ErasureError,
    DatabaseError,
    ReleaseError,
    StoreError,
    InUse,
    SigningFailed,
    OSError,
    duckdb.Error,
)

HOST = click.argument("host")


@click.group()
def command() -> None:
    """Leave sites out of later crawls, and erase what was measured of them.

    \b
    Example:
      firstflight optout add example.org
      firstflight optout add example.org --erase --dry-run
      firstflight optout add example.org --erase
      firstflight optout list
      firstflight optout remove example.org
    """


@command.command("add")
@HOST
@click.option("--erase", "erased", is_flag=True, help="Erase what was measured of it, everywhere.")
@click.option("--dry-run", is_flag=True, help="With --erase: say where it is found, and change nothing.")
@click.option(
    "--store",
    metavar="URL",
    help="With --erase: the store that releases were published to.  [default: FIRSTFLIGHT_PUBLISH_URL]",
)
@click.pass_obj
def add(settings: Settings, *, host: str, erased: bool, dry_run: bool, store: str | None) -> None:
    """Leave a host and all below it out of every later plan.

    With --erase its visits also go from the database, and every release that has it gets a new version
    without it; the old version gives way to a tombstone that says a site was withdrawn. Other sites'
    responses that came from it keep their sizes and lose their names. The opt-out list then has its hash
    alone. What is interrupted goes on by the same command.

    \b
    Example:
      firstflight optout add example.org
      firstflight optout add example.org --erase --dry-run
      firstflight optout add example.org --erase
    """
    if not erased and (dry_run or store):
        raise click.UsageError("--dry-run and --store go with --erase")
    with one_line(*EXPECTED):
        host = lists.normalise(host, where="the argument")
        if not erased:
            new = optout.add(settings.opt_out, host, hashed=False)
            click.echo(f"{host} is {'now' if new else 'already'} left out of later plans")
            return
        with journal(settings, host) as unfinished:
            for line in _erase(settings, unfinished, store or settings.publish_url, dry_run=dry_run):
                click.echo(line)


def _erase(settings: Settings, unfinished: Journal, store: str | None, *, dry_run: bool) -> Iterator[str]:
    with database(settings) as engine, progress_bar(settings, unit=" rows", unit_scale=True) as bar:

        def progress(rows: int) -> None:
            bar.update(rows)

        where = ErasurePlaces(
            settings=settings,
            engine=engine,
            database_url=database_url(settings),
            store=store,
            signer=settings.signer,
            progress=progress,
        )
        yield from (
            _describe(settings, survey(where, unfinished.site)) if dry_run else erase(where, unfinished)
        )


def _describe(settings: Settings, places: Survey) -> Iterator[str]:
    for crawl, traces in places.crawls:
        yield (
            f"{name_of(crawl)}: {traces.visits} visits, and {traces.named} rows of other sites that name it, "
            "in the database"
        )
    for release in places.releases:
        yield f"{release.crawl}: version {release.version} of its release"
    for path in [*places.derived, *places.lists]:
        yield str(path.relative_to(settings.data_dir))
    if not places.anything:
        yield "nothing of it is here"


@command.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, *, as_json: bool) -> None:
    """List the hosts that are left out of crawls. Erased sites are counted, since their names are not kept.

    \b
    Example:
      firstflight optout list --json
    """
    with one_line(ListError):
        opted_out = optout.read_optout(settings.opt_out) if settings.opt_out.exists() else None
    hosts = sorted(opted_out.hosts) if opted_out else []
    erased = len(opted_out.hashed) if opted_out else 0
    counted = [f"known by their hashes alone, since they were erased: {erased}"] if erased else []
    lines = [*hosts, *counted] or ["nobody opted out yet"]
    show({"hosts": hosts, "erased": erased}, as_json=as_json, lines=lines)


@command.command("remove")
@HOST
@click.pass_obj
def remove(settings: Settings, *, host: str) -> None:
    """Visit a host again in later crawls. What was erased stays erased.

    \b
    Example:
      firstflight optout remove example.org
    """
    with one_line(ListError):
        host = lists.normalise(host, where="the argument")
        if not optout.remove(settings.opt_out, host):
            raise click.ClickException(
                f"{host} is not in {settings.opt_out}; a host below it is a line of its own"
            )
    click.echo(f"{host} is in later plans again")
