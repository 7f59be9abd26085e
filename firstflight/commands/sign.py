"""`firstflight sign`: signs existing releases, replays and reports."""

from collections.abc import Iterator
from pathlib import Path

import click

from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.verification import stored_folders
from releases.catalogue import ReleaseError, find_release, releases
from storage.report_versions import report_versions
from storage.signatures import SigningFailed, state
from storage.sums import broken_sums


@click.command()
@click.option("--crawl", help="The newest version of a crawl's release, and the replay of its pages.")
@click.option("--year", type=click.IntRange(2000, 9999), help="Every version of a year's report.")
@click.option("--all", "every", is_flag=True, help="Every release, replay and report.")
@click.pass_obj
def command(settings: Settings, *, crawl: str | None, year: int | None, every: bool) -> None:
    """Sign SHA256SUMS, which covers every file, with the key that FIRSTFLIGHT_SIGNING_KEY names.

    A damaged folder is not signed; a good signature is kept.
    The list of allowed signers must contain the key.

    \b
    Example:
      FIRSTFLIGHT_SIGNING_KEY=/etc/firstflight/release-key firstflight sign --crawl 2026-11
      firstflight sign --year 2026
      firstflight sign --all
    """
    if [crawl is not None, year is not None, every].count(True) != 1:
        raise click.UsageError("name what to sign by --crawl or --year, or take --all")
    signer = settings.signer
    if signer is None:
        raise click.ClickException(
            "FIRSTFLIGHT_SIGNING_KEY names no key: make one with ssh-keygen -t ed25519"
        )
    with one_line(ReleaseError, SigningFailed, OSError):
        wanted = dict(list_everything(settings) if every else list_named(settings, crawl, year))
        for folder, what in wanted.items():
            if broken := broken_sums(folder):
                raise SigningFailed(f"{what} is damaged ({', '.join(broken)}): nothing damaged is signed")
            signature = state(folder, signer.allowed_signers)
            click.echo(f"{what}: {signature if signature.kind == 'good' else signer.sign(folder)}")


def list_named(settings: Settings, crawl: str | None, year: int | None) -> Iterator[tuple[Path, str]]:
    """Yield folders of a crawl's release and replay, or of a year's report in all versions, with their
    names."""
    if crawl is not None:
        release = find_release(settings.releases, crawl)
        yield release.path, f"release {release.crawl} version {release.version}"
        replay = settings.replays / str(release.crawl)
        if replay.is_dir():
            yield replay, f"replay {release.crawl}"
    else:
        versions = report_versions(settings.reports / str(year))
        if not versions:
            raise SigningFailed(f"there is no report of {year}: `firstflight report build --year {year}`")
        for version in versions:
            for kind, folder in version.folders():
                yield folder, f"{kind} {version}"


def list_everything(settings: Settings) -> Iterator[tuple[Path, str]]:
    """Yield folders of everything that can be signed, with their names."""
    for release in releases(settings.releases):
        yield release.path, f"release {release.crawl} version {release.version}"
    for kind, name, folder in stored_folders(settings):
        if kind not in ("part", "stage"):
            yield folder, f"{kind} {name}"
