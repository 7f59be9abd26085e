"""`firstflight release`: build, publish, compare and list releases."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import click

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, CRAWL, NEXT_VERSION, REASON, show
from firstflight.connect import database
from firstflight.errors import one_line
from firstflight.settings import Settings
from recordings.pages.same_sites import values_of
from releases.build import Built, build
from releases.catalogue import Damaged, Release, ReleaseError, Withdrawn, find_release, iter_versions
from releases.changes import MEASURES, RESPONSES, Change, ChangeMeasure, Selection, compare_values
from releases.publish import StoreError, publish
from releases.strata.bootstrap import LEAST_SITES
from storage.crawls import CrawlNotFound
from storage.data_lock import InUse, making
from storage.engine import DatabaseError
from storage.signatures import SigningFailed, find_faults, state
from storage.sums import find_misstated

EXPECTED = (ReleaseError, CrawlNotFound, DatabaseError, SigningFailed)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PrintedFacts:
    """The main facts of a release, as commands print them."""

    crawl: str
    version: int
    reason: str | None
    checksum: str
    bytes: int
    rows: dict[str, int]
    packets: dict[str, int]
    path: str

    @classmethod
    def of(cls, release: Release) -> Self:
        manifest = release.manifest
        return cls(
            crawl=str(manifest.crawl),
            version=manifest.version,
            reason=manifest.record.reason,
            checksum=release.checksum,
            bytes=sum(path.stat().st_size for path in release.path.iterdir()),
            rows=manifest.rows,
            packets=manifest.packets,
            path=str(release.path),
        )

    def __str__(self) -> str:
        return (
            f"{self.crawl} version {self.version}: {self.rows.get('response', 0):,} responses of "
            f"{self.rows.get('visit', 0):,} visits, {self.bytes / 1e6:,.1f} MB, sha256 {self.checksum[:16]}"
        )


def describe_result(is_new: bool, verb: str, what: object) -> str:
    return f"{verb if is_new else 'was there already, the same to the byte:'} {what}"


def imported_facts(built: Built) -> dict[str, object]:
    facts = dataclasses.asdict(PrintedFacts.of(built.release))
    return {**facts, "new": built.is_new, "recording": built.release.recording or {}}


def describe_imported(built: Built, known: str, *more: str) -> Iterator[str]:
    yield describe_result(built.is_new, "imported", PrintedFacts.of(built.release))
    yield f"recorded {(built.release.recording or {})['recorded']}: {known}"
    yield from more
    yield str(built.release.path)


def list_entry(
    version: Release | Damaged | Withdrawn, allowed_signers: Path
) -> tuple[dict[str, object], str]:
    """Return a version's entry, for JSON and as a line: its facts, or else the fault."""
    named = {"crawl": str(version.crawl), "version": version.version, "path": str(version.path)}
    line = f"{version.crawl} version {version.version}"
    if isinstance(version, Withdrawn):
        return {**named, "state": "withdrawn"}, f"{line}: WITHDRAWN"
    if isinstance(version, Damaged):
        problem = version.problem
    elif broken := find_misstated(version.path):
        problem = f"not as in SHA256SUMS: {', '.join(broken)}"
    else:
        facts, signature = PrintedFacts.of(version), str(state(version.path, allowed_signers))
        return {
            **dataclasses.asdict(facts),
            "state": "whole",
            "signature": signature,
        }, f"{facts}, {signature}"
    return {**named, "state": "damaged", "said": problem}, f"{line}: DAMAGED: {problem}"


@click.group()
def command() -> None:
    """Build, publish, compare and list releases.

    \b
    Example:
      firstflight release build --crawl 2026-11
      firstflight release publish --crawl 2026-11 --to file:///mnt/releases
      firstflight release changes 2019-12 2025-08
      firstflight release list
    """


@command.command("build")
@CRAWL
@NEXT_VERSION
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
        settings.check_signer()
        authors = settings.authors
    with (
        one_line(*EXPECTED, InUse),
        making(settings.data_dir),
        database(settings) as engine,
        progress_bar(settings, unit=" rows", unit_scale=True) as bar,
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
    facts = PrintedFacts.of(built.release)
    show(
        {**dataclasses.asdict(facts), "new": built.is_new},
        as_json=as_json,
        lines=[describe_result(built.is_new, "built", facts), facts.path],
    )


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
    with (
        one_line(*EXPECTED, InUse, StoreError),
        making(settings.data_dir),
        progress_bar(settings, unit="B", unit_scale=True) as bar,
    ):
        release = find_release(settings.releases, name)
        if broken := find_faults(release.path, settings.allowed_signers):
            raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}): restore it from a copy")
        bar.total = 2 * PrintedFacts.of(release).bytes
        published = publish(release, url, progress=bar.update)
    click.echo(describe_result(published.is_new, "published", published.url))


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
    selected = Selection(measures=(measure,) if measure else tuple(MEASURES))
    with one_line(*EXPECTED):
        first, last = (values_of(find_release(settings.releases, name), selected) for name in (before, after))
    observed = list(compare_values(first, last, selected))
    lines = [describe_change(change) for change in observed if change.change is not None]
    none = [f"{before} and {after} have fewer than {LEAST_SITES} sites in common"]
    show(
        {"changes": [dataclasses.asdict(change) for change in observed]}, as_json=as_json, lines=lines or none
    )


def describe_change(change: Change) -> str:
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
        entries = [
            list_entry(version, settings.allowed_signers) for version in iter_versions(settings.releases)
        ]
    lines = [line for _, line in entries] or [f"no releases yet in {settings.releases}"]
    show({"releases": [facts for facts, _ in entries]}, as_json=as_json, lines=lines)
