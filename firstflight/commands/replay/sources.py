"""Options for the pages of a replay: a release, or recordings."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from firstflight.recorded_pages import bundled_release
from firstflight.settings import Settings
from releases.catalogue import Release, ReleaseError, find_release
from replay.recipes.page_recipe import Recipe, read_recipes
from replay.recipes.recorded import read_recordings
from storage.signatures import faults

RECORDING = click.Path(path_type=Path, exists=True, dir_okay=False)

SOURCE_OPTIONS = (
    click.option("--crawl", help="Crawl whose release is replayed: its name or a unique prefix."),
    click.option(
        "--recorded",
        is_flag=True,
        help="The 591 pages of August 2025 that come with the code instead of a crawl's; they are "
        "imported first if need be.",
    ),
    click.option(
        "--har",
        "hars",
        type=RECORDING,
        multiple=True,
        metavar="FILE",
        help="First page of a HAR file (.har, .har.gz) instead of a release. Repeatable.",
    ),
    click.option(
        "--cdp",
        "logs",
        type=RECORDING,
        multiple=True,
        metavar="FILE",
        help="First page of a log of DevTools events (.json, .json.gz) instead of a release. Repeatable.",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The pages of a replay and their source."""

    recipes: Sequence[Recipe]
    folder: str
    """Name of the replay's folder, below the folder of all replays."""
    facts: dict[str, Any]
    """The source's fields of replay.json."""


def find_source(
    settings: Settings, *, crawl: str | None, recorded: bool, hars: Sequence[Path], logs: Sequence[Path]
) -> Source:
    """The pages of a release, of the bundled recorded ones, or of other recordings."""
    if (crawl is not None) + recorded + bool(hars or logs) != 1:
        raise click.UsageError("give either --crawl, or --recorded, or recordings by --har and --cdp")
    if hars or logs:
        return of_recordings(hars, logs)
    return of_release(
        sound(settings, find_release(settings.releases, crawl) if crawl else bundled_release(settings))
    )


def of_release(release: Release) -> Source:
    """All pages of a release; what a recorded one says of itself goes along."""
    name = str(release.manifest.crawl)
    facts: dict[str, Any] = {
        "release": {"crawl": name, "version": release.manifest.version, "checksum": release.checksum}
    }
    if release.recording is not None:
        told = ("quality", "recorded", "source", "commit", "limits", "inferred")
        facts["recorded_pages"] = {name: release.recording.get(name) for name in told}
    return Source(recipes=read_recipes(release), folder=name, facts=facts)


def of_recordings(hars: Sequence[Path], logs: Sequence[Path]) -> Source:
    """A page of each recording; the folder's name depends on the files' contents only."""
    found = read_recordings(hars, logs)
    sums = hashlib.sha256(" ".join(one.sha256 for one in found).encode()).hexdigest()
    return Source(
        recipes=[one.recipe for one in found],
        folder=f"recordings-{sums[:8]}",
        facts={"recordings": [one.to_dict() for one in found]},
    )


def sound(settings: Settings, release: Release) -> Release:
    """The release; ReleaseError if its files or its signature are damaged."""
    if broken := faults(release.path, settings.allowed_signers):
        raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}); restore it from a copy")
    return release
