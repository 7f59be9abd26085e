"""`firstflight release`: build, verify, publish, compare and list releases."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from sqlalchemy import Engine
from tqdm import tqdm

from firstflight.commands.options import AS_JSON, show
from firstflight.commands.report_versions import plain
from firstflight.connect import database, database_to_read
from firstflight.errors import one_line
from firstflight.settings import Settings
from recordings.pages.same_sites import values_of
from releases.build import build
from releases.catalogue import Damaged, Release, ReleaseError, Withdrawn, find_release, iter_versions
from releases.changes import MEASURES, RESPONSES, Asked, Change, ChangeMeasure, compare_values
from releases.publish import StoreError, publish
from releases.strata.bootstrap import LEAST_SITES
from releases.verify import Check, verify
from storage.crawls import CrawlNotFound
from storage.engine import DatabaseError
from storage.signatures import SigningFailed, find_faults, state
from storage.sums import find_misstated

EXPECTED = (ReleaseError, CrawlNotFound, DatabaseError, SigningFailed)

CRAWL = click.option(
    "--crawl", "name", required=True, help="Name of the crawl, or a unique beginning of it, such as 2026-11."
)

REASON = click.option(
    "--reason", callback=plain, help="Why a later version is made; needed from version 2 on."
)


def facts_of(release: Release) -> dict[str, Any]:
    """Return the main facts of a release."""
    manifest = release.manifest
    return {
        "crawl": str(manifest.crawl),
        "version": manifest.version,
        "reason": manifest.edition.reason,
        "checksum": release.checksum,
        "bytes": sum(path.stat().st_size for path in release.path.iterdir()),
        "rows": manifest.rows,
        "packets": manifest.packets,
        "path": str(release.path),
    }


def line_of(facts: dict[str, Any]) -> str:
    """Return the facts of a release as one line of text."""
    return (
        f"{facts['crawl']} version {facts['version']}: {facts['rows'].get('response', 0):,} responses of "
        f"{facts['rows'].get('visit', 0):,} visits, {facts['bytes'] / 1e6:,.1f} MB, "
        f"sha256 {facts['checksum'][:16]}"
    )


def entry(version: Release | Damaged | Withdrawn, allowed_signers: Path) -> dict[str, Any]:
    """Return the list's entry of one version: its facts if no file is missing, else the fault."""
    named = {"crawl": str(version.crawl), "version": version.version, "path": str(version.path)}
    if isinstance(version, Withdrawn):
        return {**named, "state": "withdrawn"}
    if isinstance(version, Damaged):
        return {**named, "state": "damaged", "said": version.problem}
    if broken := find_misstated(version.path):
        return {**named, "state": "damaged", "said": f"not as in SHA256SUMS: {', '.join(broken)}"}
    return {**facts_of(version), "state": "whole", "signature": str(state(version.path, allowed_signers))}


def line_of_entry(facts: dict[str, Any]) -> str:
    """Return the list's entry as one line of text."""
    if facts["state"] == "whole":
        return f"{line_of(facts)}, {facts['signature']}"
    fault = f": {facts['said']}" if "said" in facts else ""
    return f"{facts['crawl']} version {facts['version']}: {facts['state'].upper()}{fault}"


@click.group()
def command() -> None:
    """Build, verify, publish, compare and list releases.

    \b
    Example:
      firstflight release build --crawl 2026-11
      firstflight release verify --crawl 2026-11
      firstflight release publish --crawl 2026-11 --to file:///mnt/releases
      firstflight release changes 2019-12 2025-08
      firstflight release list
    """


@command.command("build")
@CRAWL
@click.option(
    "--version",
    type=click.IntRange(1, 9999),
    help="Version to build; a higher one if the release must change.  [default: the newest version, or 1]",
)
@REASON
@AS_JSON
@click.pass_obj
def build_(settings: Settings, *, name: str, version: int | None, reason: str | None, as_json: bool) -> None:
    """Release a sealed crawl as immutable Parquet. A version that exists is compared, never changed.

    A version after the first needs a reason, which readers are shown. The release is signed if
    FIRSTFLIGHT_SIGNING_KEY names a key, and has the authors of the CITATION.cff that FIRSTFLIGHT_CITATION
    names.

    \b
    Example:
      firstflight release build --crawl 2026-11
      firstflight release build --crawl 2026-11 --version 2 --reason "sizes of WebSockets over HTTP/2 were null"
    """  # noqa: E501
    with one_line(SigningFailed, ReleaseError):
        if settings.signer is not None:
            settings.signer.check()
        authors = settings.authors
    with (
        one_line(*EXPECTED),
        database(settings) as engine,
        tqdm(unit=" rows", unit_scale=True, disable=None) as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        built = build(
            engine,
            name,
            settings.releases,
            version=version,
            reason=reason,
            authors=authors,
            signer=settings.signer,
            progress=progress,
        )
    facts = facts_of(built.release)
    done = "built" if built.is_new else "was there already, the same to the byte:"
    show({**facts, "new": built.is_new}, as_json=as_json, lines=[f"{done} {line_of(facts)}", facts["path"]])


@command.command("verify")
@click.option("--crawl", "name", help="Name of the crawl, or a unique beginning of it, such as 2026-11.")
@click.option("--all", "every", is_flag=True, help="Every release there is, each in its newest version.")
@click.option("--offline", is_flag=True, help="Leave PostgreSQL out: only what the files say themselves.")
@AS_JSON
@click.pass_context
def verify_(ctx: click.Context, *, name: str | None, every: bool, offline: bool, as_json: bool) -> None:
    """Check the newest version of a release: sums, counts, keys, CDFs. Exit code 1 if one fails.

    \b
    Example:
      firstflight release verify --crawl 2026-11
      firstflight release verify --all --offline
    """
    settings: Settings = ctx.obj
    if (name is None) != every:
        raise click.UsageError("name a release by --crawl, or take --all")
    with one_line(*EXPECTED):
        asked = newest(settings.releases) if name is None else [find_release(settings.releases, name)]
        with contextlib.nullcontext() if offline else database_to_read(settings) as engine:
            verdicts = [verdict(release, engine, as_json=as_json) for release in asked]
    if as_json:
        click.echo(json.dumps({"releases": verdicts} if every else verdicts[0], indent=2))
    ctx.exit(0 if all(judged["holds"] for judged in verdicts) else 1)


def newest(folder: Path) -> list[Release | Damaged]:
    """Return every release, in its newest version that is not withdrawn."""
    return list(
        {
            version.crawl: version for version in iter_versions(folder) if not isinstance(version, Withdrawn)
        }.values()
    )


def checks_of(release: Release | Damaged, engine: Engine | None) -> Iterator[Check]:
    """Yield the checks of a release as they are made;
    a release without a readable manifest has one failed check."""
    if isinstance(release, Damaged):
        yield Check("manifest", holds=False, evidence=release.problem)
    else:
        yield from verify(release, engine)


def verdict(release: Release | Damaged, engine: Engine | None, *, as_json: bool) -> dict[str, Any]:
    """Return the checks of one release; print each as it is made unless JSON is asked for."""
    checks = []
    for check in checks_of(release, engine):
        checks.append(check)
        if not as_json:
            click.echo(line_of_check(check))
    failed = sum(not check.holds for check in checks)
    if not as_json:
        outcome = f"{failed} of {len(checks)} checks failed" if failed else f"all {len(checks)} checks hold"
        click.echo(f"{release.crawl} version {release.version}: {outcome}")
    is_whole = isinstance(release, Release) and all(c.holds for c in checks if c.name == "checksums")
    return {
        "crawl": str(release.crawl),
        "version": release.version,
        "checksum": release.checksum if isinstance(release, Release) and is_whole else None,
        "holds": not failed,
        "checks": [{"name": c.name, "holds": c.holds, "said": c.evidence} for c in checks],
    }


def line_of_check(check: Check) -> str:
    """Return a check as one line of text: verdict, name, evidence."""
    return f"{'ok    ' if check.holds else 'FAILED'}  {check.name}: {check.evidence}"


@command.command("publish")
@CRAWL
@click.option("--to", "url", metavar="URL", help="The store.  [default: FIRSTFLIGHT_PUBLISH_URL]")
@click.pass_obj
def publish_(settings: Settings, *, name: str, url: str | None) -> None:
    """Copy the newest version of a release to a store, and read it back to compare.

    A store is a folder elsewhere or an S3 bucket; credentials come from AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY. A published version is never written again. Without a store the command does
    nothing and succeeds.

    \b
    Example:
      firstflight release publish --crawl 2026-11 --to file:///mnt/releases
      firstflight release publish --crawl 2026-11 --to 's3://bucket/releases?region=eu-central-1'
      firstflight release publish --crawl 2026-11 --to 's3://bucket/releases?region=any&scheme=http&endpoint_override=127.0.0.1:7070'
    """
    url = url or settings.publish_url
    if url is None:
        click.echo("no store is set (--to or FIRSTFLIGHT_PUBLISH_URL): the release stays where it is")
        return
    with one_line(*EXPECTED, StoreError), tqdm(unit="B", unit_scale=True, disable=None) as bar:
        release = find_release(settings.releases, name)
        if broken := find_faults(release.path, settings.allowed_signers):
            raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}): restore it from a copy")
        bar.total = 2 * facts_of(release)["bytes"]
        published = publish(release, url, progress=bar.update)
    done = "published" if published.is_new else "was there already, the same to the byte:"
    click.echo(f"{done} {published.url}")


@command.command("changes")
@click.argument("before", metavar="FROM")
@click.argument("after", metavar="TO")
@click.option("--measure", type=click.Choice(list(MEASURES)), help="What is compared.  [default: everything]")
@AS_JSON
@click.pass_obj
def changes_(
    settings: Settings, *, before: str, after: str, measure: ChangeMeasure | None, as_json: bool
) -> None:
    """Compare two releases over the sites that both have: shares that fit, quantiles, bytes a page.

    Redirects are left out, and of fewer than 20 sites nothing is stated. Where a header was not counted, a
    change has two ends: bodies alone, and with the header's text.

    \b
    Example:
      firstflight release changes 2019-12 2025-08
      firstflight release changes 2025-11 2026-11 --measure page_bytes --json
    """
    asked = Asked(measures=(measure,) if measure else tuple(MEASURES))
    with one_line(*EXPECTED):
        first, last = (values_of(find_release(settings.releases, name), asked) for name in (before, after))
    observed = list(compare_values(first, last, asked))
    lines = [line_of_change(change) for change in observed if change.change is not None]
    none = [f"{before} and {after} have fewer than {LEAST_SITES} sites in common"]
    show(
        {"changes": [dataclasses.asdict(change) for change in observed]}, as_json=as_json, lines=lines or none
    )


def line_of_change(change: Change) -> str:
    """Return a change as one line of text."""
    window = f" IW {change.iw}" if change.iw else ""
    what = f"{RESPONSES[change.responses]}, {change.measure.replace('_', ' ')}{window}"
    held = "" if change.end == "whole" else f" ({change.end})"
    assert change.change is not None
    estimate, lower, upper = dataclasses.astuple(change.change)
    if change.measure == "share":
        values = f"{change.before:.1%} to {change.after:.1%}, {100 * estimate:+.1f} points"
        values += f" ({100 * lower:+.1f} to {100 * upper:+.1f})"
    else:
        values = f"{change.before:,.0f} to {change.after:,.0f} B, times {estimate:.2f}"
        values += f" ({lower:.2f} to {upper:.2f})"
    return f"{what}{held}: {values}, {change.sites} sites"


@command.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, *, as_json: bool) -> None:
    """List every version of every release in the data folder, damaged and withdrawn ones too.

    Checksums are not computed: use `firstflight verify` for that.

    \b
    Example:
      firstflight release list --json
    """
    with one_line(*EXPECTED):
        entries = [entry(version, settings.allowed_signers) for version in iter_versions(settings.releases)]
    lines = [line_of_entry(facts) for facts in entries] or [f"no releases yet in {settings.releases}"]
    show({"releases": entries}, as_json=as_json, lines=lines)
