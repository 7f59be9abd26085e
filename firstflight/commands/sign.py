"""`firstflight sign`: signs existing releases, stages of replays and reports."""

from collections.abc import Iterator
from pathlib import Path

import click

from firstflight.errors import one_line
from firstflight.settings import Settings
from firstflight.verification import list_stored_folders
from releases.catalogue import ReleaseError, releases
from storage.signatures import SigningFailed, state
from storage.sums import broken_sums


@click.command()
@click.pass_obj
def command(settings: Settings) -> None:
    """Sign every release, stage of a replay, report and erratum: SHA256SUMS, which covers every file, with
    the key that FIRSTFLIGHT_SIGNING_KEY names.

    A damaged folder is not signed; a good signature is kept.
    The list of allowed signers must contain the key.

    \b
    Example:
      FIRSTFLIGHT_SIGNING_KEY=/etc/firstflight/release-key firstflight sign
    """
    signer = settings.signer
    if signer is None:
        raise click.ClickException(
            "FIRSTFLIGHT_SIGNING_KEY names no key: make one with ssh-keygen -t ed25519"
        )
    with one_line(ReleaseError, SigningFailed, OSError):
        for folder, what in dict(list_everything(settings)).items():
            if broken := broken_sums(folder):
                raise SigningFailed(f"{what} is damaged ({', '.join(broken)}): nothing damaged is signed")
            signature = state(folder, signer.allowed_signers)
            click.echo(f"{what}: {signature if signature.kind == 'good' else signer.sign(folder)}")


def list_everything(settings: Settings) -> Iterator[tuple[Path, str]]:
    for release in releases(settings.releases):
        yield release.path, f"release {release.crawl} version {release.version}"
    for kind, name, folder in list_stored_folders(settings):
        if kind != "part":
            yield folder, f"{kind} {name}"
