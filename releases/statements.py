"""What a release states of itself: its manifest, its crawl, and whence recorded pages are."""

import dataclasses
from typing import Any, cast

import pyarrow.parquet as pq
from typing_extensions import TypedDict

from releases.catalogue import Edition, Manifest, Release
from schema.authors import Author


class ReleaseFacts(TypedDict):
    """The release's manifest without the sums of its files, and its checksum."""

    crawl: str
    version: int
    schema_version: int
    method_version: str
    commit: str
    browser: str
    list_id: str
    list_checksum: str
    licence: str
    rows: dict[str, int]
    packets: dict[str, int]
    history: list[Edition]
    public_suffix_list: str
    authors: list[Author]
    recorded_by: list[Author]
    sha256: str


class CrawlFacts(TypedDict):
    """The crawl's provenance and its final visits by outcome."""

    month: str
    device: str
    vantage: str
    arm: str
    kind: str
    list_id: str
    top: int | None
    method_version: str
    commit: str
    browser: str
    user_agent: str | None
    browser_flags: str | None
    planned_at: str | None
    sealed_at: str | None
    browser_built_on: str | None
    sites: int
    outcomes: dict[str, int]


class InferredFacts(TypedDict):
    """What was inferred of the requests, and by which rules."""

    share: float | None
    requests: dict[str, int]
    rules: dict[str, str]


class RecordedFacts(TypedDict):
    """Whence recorded pages are, what was inferred of them, and what they cannot tell."""

    recorded: str
    source: str
    commit: str | None
    pages: int
    requests: int
    inferred: dict[str, InferredFacts]
    limits: list[str]


def describe_recording(release: Release) -> RecordedFacts | None:
    """State whence recorded pages are, what was inferred of them, and what they cannot tell.

    None for a crawl of ours.
    """
    stated = release.recording
    if stated is None:
        return None
    return cast("RecordedFacts", {name: stated.get(name) for name in RecordedFacts.__annotations__})


def describe_release(release: Release) -> ReleaseFacts:
    """Return the manifest without the sums of the files, and the checksum."""
    manifest = {field.name: getattr(release.manifest, field.name) for field in dataclasses.fields(Manifest)}
    del manifest["files"]
    return cast("ReleaseFacts", manifest | {"crawl": str(manifest["crawl"]), "sha256": release.checksum})


def describe_crawl(release: Release) -> CrawlFacts:
    """Return the crawl's provenance and its number of final visits by outcome."""
    (row,) = pq.ParquetFile(release.file("crawl")).read().to_pylist()
    visits = pq.ParquetFile(release.file("visit")).read(columns=["is_final", "outcome"]).to_pylist()
    outcomes = sorted(visit["outcome"] for visit in visits if visit["is_final"])
    names = [name for name in CrawlFacts.__annotations__ if name not in ("sites", "outcomes")]
    columns = {name: _plain(row.get(name)) for name in names}
    counts = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)}
    return cast("CrawlFacts", columns | {"sites": len(outcomes), "outcomes": counts})


def _plain(value: Any) -> Any:  # noqa: ANN401  # a value of a table
    """Return dates in ISO 8601."""
    return value.isoformat() if hasattr(value, "isoformat") else value
