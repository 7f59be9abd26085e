"""`firstflight erratum`: records and lists what was found wrong in published releases."""

import dataclasses
import datetime

import click

from firstflight.commands.options import AS_JSON, Statement, show
from firstflight.errors import one_line
from firstflight.settings import Settings
from releases.catalogue import ReleaseError
from releases.errata import Erratum, ErratumError, errata, record
from storage.modes import UnsafeFolder
from storage.signatures import SigningFailed

EXPECTED = (ReleaseError, ErratumError, SigningFailed, UnsafeFolder, OSError)


@click.group()
def command() -> None:
    """Record and list what was found wrong in published releases, which are never changed.

    \b
    Example:
      firstflight erratum add --release 2026-11 --wrong "sizes of WebSockets are null" --advice "use version 2"
      firstflight erratum list
    """  # noqa: E501


@command.command("add")
@click.option(
    "--release",
    "names",
    multiple=True,
    required=True,
    help="A release that is concerned: 2026-11 for its newest version, 2026-11/v1 for another. "
    "May be repeated.",
)
@click.option(
    "--wrong", type=Statement(), required=True, help="What is wrong, in a line that readers are shown."
)
@click.option("--advice", type=Statement(), required=True, help="What readers should do, in a line.")
@click.option("--column", "columns", multiple=True, help="A column that is wrong. May be repeated.")
@click.option("--since", help="First month or day whose observations are wrong.  [default: all of them]")
@click.option("--replaces", type=click.IntRange(1), help="Number of the erratum that this one replaces.")
@click.pass_obj
def add(
    settings: Settings,
    *,
    names: tuple[str, ...],
    wrong: str,
    advice: str,
    columns: tuple[str, ...],
    since: str | None,
    replaces: int | None,
) -> None:
    """Record an erratum of one or more releases. The service shows it with them and on its page /errata.

    It is kept for good: a later one can replace it. It must not name a site. It is signed if
    FIRSTFLIGHT_SIGNING_KEY names a key.

    \b
    Example:
      firstflight erratum add --release 2026-11/v1 --release 2026-10 --column response.header_bytes --since 2026-10-05 \\
        --wrong "headers of folded lines are counted twice" --advice "use version 2, or body_bytes alone"
      firstflight erratum add --release 2026-11 --wrong "only mobile pages" --advice "use version 2" --replaces 1
    """  # noqa: E501
    with one_line(*EXPECTED):
        settings.check_signer()
        erratum = record(
            settings.releases,
            names,
            wrong=wrong,
            advice=advice,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            columns=columns,
            since=since,
            replaces=replaces,
            signer=settings.signer,
        )
    click.echo(f"recorded {describe_erratum(erratum)}")


@command.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, *, as_json: bool) -> None:
    """List every erratum of the releases in the data folder.

    \b
    Example:
      firstflight erratum list --json
    """
    with one_line(*EXPECTED):
        recorded = list(errata(settings.releases))
    show(
        {"errata": [dataclasses.asdict(erratum) for erratum in recorded]},
        as_json=as_json,
        lines=[*map(describe_erratum, recorded)] or [f"no errata of the releases in {settings.releases}"],
    )


def describe_erratum(erratum: Erratum) -> str:
    about = ", ".join(f"{release.crawl} version {release.version}" for release in erratum.releases)
    columns = f", {', '.join(erratum.columns)}" if erratum.columns else ""
    since = f", since {erratum.since}" if erratum.since else ""
    replaces = f"; replaces erratum {erratum.replaces}" if erratum.replaces else ""
    return (
        f"erratum {erratum.number} of {erratum.date}, {about}{columns}{since}: {erratum.wrong.rstrip('. ')}."
        f" {erratum.advice.rstrip('. ')}{replaces}"
    )
