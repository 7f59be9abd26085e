"""What `firstflight replay run` takes its pages from: a release, or recordings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from releases.catalogue import ReleaseError, find_release
from replay.recipes.page_recipe import read_recipes
from replay.recipes.recorded import read_recordings
from storage.signatures import faults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstflight.settings import Settings
    from releases.catalogue import Release
    from replay.recipes.page_recipe import Recipe

Command = TypeVar("Command", bound="Callable[..., Any]")

RECORDING = click.Path(path_type=Path, exists=True, dir_okay=False)

OPTIONS = (
    click.option("--crawl", help="Whose release: its name, or as much of it as is unique."),
    click.option(
        "--har",
        "hars",
        type=RECORDING,
        multiple=True,
        metavar="FILE",
        help="In place of a release: the first page of a HAR file, .har or .har.gz. As often as you like.",
    ),
    click.option(
        "--cdp",
        "logs",
        type=RECORDING,
        multiple=True,
        metavar="FILE",
        help="The same of a log of DevTools events, .json or .json.gz.",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The pages, and where they came from."""

    recipes: Sequence[Recipe]
    folder: str
    """Of the replay, below those of all replays."""
    facts: dict[str, Any]
    """For replay.json."""


def source_options(command: Command) -> Command:
    """All of them, on a command that passes them to `find_source`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def find_source(
    settings: Settings, *, crawl: str | None, hars: Sequence[Path], logs: Sequence[Path]
) -> Source:
    """The release, or the recordings."""
    if (crawl is None) == (not hars and not logs):
        raise click.UsageError("give either --crawl, or recordings by --har and --cdp")
    return of_release(settings, crawl) if crawl is not None else of_recordings(hars, logs)


def of_release(settings: Settings, crawl: str) -> Source:
    """Every page of a release."""
    release = sound_release(settings, crawl)
    name = str(release.manifest.crawl)
    facts = {"crawl": name, "version": release.manifest.version, "checksum": release.checksum}
    return Source(recipes=read_recipes(release), folder=name, facts={"release": facts})


def of_recordings(hars: Sequence[Path], logs: Sequence[Path]) -> Source:
    """A page of each; the same files always make the same folder."""
    found = read_recordings(hars, logs)
    sums = hashlib.sha256(" ".join(one.sha256 for one in found).encode()).hexdigest()
    return Source(
        recipes=[one.recipe for one in found],
        folder=f"recordings-{sums[:8]}",
        facts={"recordings": [one.to_dict() for one in found]},
    )


def sound_release(settings: Settings, crawl: str) -> Release:
    """The release, its files as its sums say, and its signature not bad."""
    release = find_release(settings.releases, crawl)
    if broken := faults(release.path, settings.allowed_signers):
        raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}); restore it from a copy")
    return release
