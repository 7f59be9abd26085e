"""The pages of a replay: of a release, or of recordings."""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from firstflight.recorded import import_once
from firstflight.settings import Settings
from recordings.pages.same_sites import sites_of
from releases.catalogue import Release, ReleaseError, find_release
from replay.recipes.page_recipe import Recipe, read_recipes
from replay.recipes.recorded import read_recordings
from replay.runs.facts import LoadsPlan
from storage.signatures import find_faults

BUNDLED = "recorded"
"""Name of the pages that come with the code, which are imported first if need be."""

HARS, LOGS = (".har", ".har.gz"), (".json", ".json.gz")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaySource:
    """The pages of a replay and their source."""

    recipes: Sequence[Recipe]
    folder: str
    """Beginning of the name of the replay's folder."""
    facts: LoadsPlan
    names: dict[int, str] = field(default_factory=dict)
    """Site of each page of a release, by its visit: pages of one registrable domain share it."""

    @property
    def sites(self) -> dict[str, int]:
        numbers = {name: number for number, name in enumerate(sorted({*self.names.values()}))}
        return {str(visit): numbers[name] for visit, name in sorted(self.names.items())}


def find_source(settings: Settings, pages: str | Sequence[str]) -> ReplaySource:
    """Return the pages of a release or of recordings; ValueError for none."""
    files = [pages] if isinstance(pages, str) else list(pages)
    if not files:
        raise ValueError("pages: name recordings, such as --set pages=page.har")
    if all(name.endswith((*HARS, *LOGS)) for name in files):
        return recording_source([Path(name) for name in files])
    name, *others = files
    if others:
        raise ValueError(f"pages: recordings end in {', '.join((*HARS, *LOGS))}, not as {', '.join(files)}")
    release = import_once(settings).release if name == BUNDLED else find_release(settings.releases, name)
    return release_source(require_sound(settings, release))


def leave_out_sites(settings: Settings, source: ReplaySource, other: str) -> ReplaySource:
    """Return a release's pages whose sites another lacks; its facts name the other."""
    if "release" not in source.facts:
        raise ValueError("confirms: the pages to confirm by are those of a release")
    known = find_source(settings, other)
    kept = [
        recipe for recipe in source.recipes if source.names[recipe.visit_id] not in {*known.names.values()}
    ]
    if not kept:
        raise ValueError(f"confirms: every site of {source.folder} is one of {known.folder}")
    return dataclasses.replace(
        source,
        recipes=kept,
        facts={**source.facts, "confirms": known.facts["release"]},
        names={recipe.visit_id: source.names[recipe.visit_id] for recipe in kept},
    )


def release_source(release: Release) -> ReplaySource:
    """Return a release's pages, with what a recorded one says of itself."""
    name = str(release.manifest.crawl)
    facts: LoadsPlan = {
        "release": {"crawl": name, "version": release.manifest.version, "checksum": release.checksum}
    }
    if release.recording is not None:
        names = ("quality", "recorded", "source", "commit", "limits", "inferred")
        facts["recorded_pages"] = {name: release.recording.get(name) for name in names}
    recipes = read_recipes(release)
    return ReplaySource(recipes=recipes, folder=name, facts=facts, names=name_sites(release, recipes))


def name_sites(release: Release, recipes: Sequence[Recipe]) -> dict[int, str]:
    """Return each page's site, by its visit; a nameless one is a site of its own."""
    known = pq.read_table(release.file("visit"), columns=["id", "rank"], partitioning=None)
    ranks = dict(zip(known["id"].to_pylist(), known["rank"].to_pylist(), strict=True))
    sites = sites_of(release)
    names = dict(zip(sites["rank"].to_pylist(), sites["site"].to_pylist(), strict=True))
    return {recipe.visit_id: names.get(ranks[recipe.visit_id], recipe.page) for recipe in recipes}


def recording_source(files: Sequence[Path]) -> ReplaySource:
    """Return a page of each recording; the folder's name depends on contents only."""
    hars = [path for path in files if path.name.endswith(HARS)]
    recordings = read_recordings(hars, [path for path in files if path not in hars])
    sums = hashlib.sha256(" ".join(recording.sha256 for recording in recordings).encode()).hexdigest()
    return ReplaySource(
        recipes=[recording.recipe for recording in recordings],
        folder=f"recordings-{sums[:8]}",
        facts={"recordings": [recording.to_dict() for recording in recordings]},
    )


def require_sound(settings: Settings, release: Release) -> Release:
    """Return the release; ReleaseError if it, or its signature, is damaged."""
    if broken := find_faults(release.path, settings.allowed_signers):
        raise ReleaseError(f"{release.path} is damaged ({', '.join(broken)}); restore it from a copy")
    return release
