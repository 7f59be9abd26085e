"""Models of the JSON answers, from which OpenAPI is generated.

No answer is a bare array, so that fields can be added.
"""

import datetime  # pydantic reads the annotation
from typing import Any, Literal

from pydantic import BaseModel, Field

from releases.strata.bootstrap import CONFIDENCE
from storage.report_versions import Standing


class Provenance(BaseModel):
    """Origin of the numbers in an answer."""

    crawl: str = Field(description="name of the crawl: month.device.vantage.arm.kind")
    version: int = Field(description="version of its release")
    checksum: str = Field(
        description="SHA-256 of the release's SHA256SUMS, which identifies the whole release"
    )
    signature: Literal["good", "bad", "unsigned"] = Field(
        description="good if SHA256SUMS is signed by a signer that this service knows"
    )
    signed_by: str | None = Field(description="name of the signer; null unless the signature is good")
    is_checked: bool = Field(
        description="true if every file has been compared with its checksum; a file is never served "
        "before it has been compared"
    )
    quality: str = Field(
        description="quality level: observed, recorded (pages that somebody else recorded), or "
        "illustrative, which is no evidence about the live web"
    )
    quality_means: str = Field(description="meaning of the quality level")
    licence: str = Field(description="licence of the data")
    cite_as: str = Field(description="how to cite it; if it is illustrative, why it is not to be cited")
    url: str = Field(description="page of the release")
    errata: list[str] = Field(
        default_factory=list,
        description="addresses of what was found wrong in the release after its publication, "
        "the newest first",
    )


class CrawlAnswer(BaseModel):
    """A crawl, by its newest release."""

    crawl: str
    month: str
    device: str
    vantage: str
    arm: str
    kind: str
    versions: list[int] = Field(description="versions of the release, the newest first")
    provenance: Provenance


class DamagedAnswer(BaseModel):
    """A version of a release whose files are not the published ones;
    it is in no other list until it is restored."""

    crawl: str
    version: int
    damage: str = Field(description="what is wrong with it")


class WithdrawnAnswer(BaseModel):
    """A version of a release that was withdrawn."""

    crawl: str
    version: int


class VersionsAside(BaseModel):
    """Versions that are listed but not served."""

    damaged: list[DamagedAnswer]
    withdrawn: list[WithdrawnAnswer]


class ConcernedAnswer(BaseModel):
    """A version of a release that an erratum is about."""

    crawl: str
    version: int
    checksum: str = Field(description="SHA-256 of the release's SHA256SUMS")


class ErratumAnswer(BaseModel):
    """What was found wrong in releases after their publication."""

    number: int
    date: str = Field(description="day on which it was recorded")
    url: str = Field(description="its place on the page of errata")
    releases: list[ConcernedAnswer]
    wrong: str = Field(description="what is wrong")
    advice: str = Field(description="what readers should do")
    columns: list[str] = Field(
        description="columns that are wrong, as response.header_bytes; "
        "empty if it is about no particular column"
    )
    since: str | None = Field(
        description="first month or day whose observations are wrong; null for all of them"
    )
    replaces: int | None = Field(description="number of the erratum that this one stands in for")
    replaced_by: int | None = Field(description="number of the erratum that stands in for this one")
    signature: Literal["good", "bad", "unsigned"]
    signed_by: str | None = Field(description="name of the signer; null unless the signature is good")


class ErrataAnswer(VersionsAside):
    """Errata of releases, the newest first, with the versions that were withdrawn."""

    errata: list[ErratumAnswer]
    damaged_errata: list[int] = Field(
        description="numbers of errata that are not as they were recorded and must be restored from a copy"
    )


class CrawlsAnswer(VersionsAside):
    """Every crawl that has a release, the newest month first."""

    crawls: list[CrawlAnswer]


class ProgressAnswer(BaseModel):
    """A running crawl."""

    crawl: str
    at: datetime.datetime = Field(description="time of the counts")
    planned: int = Field(description="number of sites planned")
    done: int = Field(description="number of sites that have their final visit")
    visits: int
    received_bytes: int
    visits_per_hour: float | None = Field(description="recent rate; null if unknown")
    minutes_left: int | None = Field(description="null if unknown")
    outcomes: dict[str, int] = Field(description="final visits by outcome")


class ProgressesAnswer(BaseModel):
    """Running crawls: they are not sealed, and none of their data is released."""

    crawls: list[ProgressAnswer]


class FileAnswer(BaseModel):
    """One file of a release or of a report."""

    name: str
    url: str
    bytes: int
    sha256: str


class ReleaseAnswer(BaseModel):
    """One version of a release."""

    provenance: Provenance
    manifest: dict[str, Any] = Field(description="manifest.json, as released")
    files: list[FileAnswer]


class ReleasesAnswer(VersionsAside):
    """A page of releases, the newest month and its highest version first;
    all that are not served stand on every page."""

    releases: list[ReleaseAnswer]
    next: str | None = Field(description="URL of the page after this one; null after the last release")


class FitAnswer(BaseModel):
    """How many items fit into one window of full segments."""

    iw: int = Field(description="window in segments")
    window_bytes: int = Field(description="iw times mss")
    count: int = Field(description="number of items of at most that size")
    share: float | None = Field(description="count divided by known; null if no size is known")
    lower: float | None = Field(
        default=None, description="lower end of the share's confidence interval, over sites"
    )
    upper: float | None = Field(default=None, description="upper end of the share's confidence interval")


class QuantileAnswer(BaseModel):
    """An exact quantile."""

    percent: int
    size_bytes: int = Field(description="smallest size that at least `percent` % of the items do not exceed")
    lower_bytes: int | None = Field(
        default=None, description="lower end of its confidence interval, over sites"
    )
    upper_bytes: int | None = Field(default=None, description="upper end of its confidence interval")


class Point(BaseModel):
    """One step of the empirical CDF."""

    size_bytes: int
    cdf: float


class DistributionAnswer(BaseModel):
    """The distribution of one measure."""

    measure: str
    definition: str
    known: int = Field(description="number of items of known size")
    unknown: int = Field(description="number of items of unknown size, which no share includes")
    sites: int = Field(description="number of sites with an item of known size")
    interval_unknown: str | None = Field(
        description="why the confidence intervals are unknown; null if they are known"
    )
    fits: list[FitAnswer]
    quantiles: list[QuantileAnswer]
    points: list[Point] = Field(
        description="some steps of the exact CDF; distribution.parquet has all of them"
    )


class DistributionsAnswer(BaseModel):
    """Distributions of one release, compared with windows."""

    provenance: Provenance
    mss: int = Field(description="payload of a full segment, in bytes")
    incomplete_responses: int = Field(
        description="responses that broke off or had not ended when recording stopped; they are in the "
        "measure `responses_incomplete` alone"
    )
    incomplete_share: float | None = Field(
        description="their share of all responses that crossed the network; null if none did"
    )
    stratum: dict[str, str | int] = Field(
        default_factory=dict,
        description="value of each dimension that was asked for; empty for every item of home pages",
    )
    stratum_unknown: str | None = Field(
        default=None,
        description="why the release does not know the stratum, so that it has no distribution; "
        "null if it does",
    )
    confidence: float = Field(default=CONFIDENCE, description="confidence level of the intervals")
    distributions: list[DistributionAnswer]


class WindowShareAnswer(BaseModel):
    """The share of connections whose initial window lies between two bounds."""

    least: int = Field(description="in full segments")
    most: int | None = Field(description="in full segments; null if nothing bounds it")
    share: float = Field(description="of the connections of which something is known")


class WindowsAnswer(BaseModel):
    """Initial windows of some connections."""

    connections: Literal["clear", "tls", "all"] = Field(
        description="those in clear text, those over TLS, or both, by their numbers"
    )
    exact: int = Field(description="connections whose window is known exactly")
    bounded: int = Field(description="connections whose window lies between two bounds")
    at_least: int = Field(description="connections with a lower bound alone")
    unknown: int = Field(
        description="connections of whose window nothing is known, which nothing else counts"
    )
    shares: list[WindowShareAnswer] = Field(
        description="the likeliest for all bounds together (Turnbull's estimate), each of an interval "
        "within which it may lie anywhere"
    )


class InitialWindowsAnswer(BaseModel):
    """Initial windows that the servers of one release used on TCP connections."""

    provenance: Provenance
    windows: list[WindowsAnswer] = Field(description="empty if no packets were captured")


class ReportVersionAnswer(BaseModel):
    """One version of a year's report."""

    version: int
    url: str = Field(description="its page, at an address that stays")
    standing: Standing
    date: str | None = Field(description="day of the publication; null if it is not known")
    reason: str | None = Field(description="why it was made; null for the first")
    corrects: str | None = Field(description="what it corrects in the version before; null for the first")
    supersedes: str | None = Field(description="checksum of the version before; null for the first")
    changed: list[str] = Field(description="inputs that differ from those of the version before")
    withdrawn_on: str | None = Field(description="null unless it was withdrawn and the day is known")
    withdrawn_because: str | None = Field(description="null unless it was withdrawn")
    damage: str | None = Field(description="what is wrong with its files; null if nothing is")
    checksum: str | None = Field(description="SHA-256 of its SHA256SUMS; null if it was erased")
    signature: Literal["good", "bad", "unsigned"]
    signed_by: str | None
    licence: str = Field(description="URL of the licence")
    cite_as: str = Field(description="how to cite it")
    files: list[FileAnswer] = Field(
        description="its files as they were published; empty if it is damaged or erased"
    )


class ReportAnswer(BaseModel):
    """A year's report, by its newest version that was not withdrawn."""

    year: str
    version: int
    standing: Standing = Field(description="withdrawn or erased if no version is in force")
    url: str = Field(description="an address that leads to the newest version")
    json_url: str
    summary_url: str
    errata_url: str = Field(description="page of all versions, and of what later ones correct")
    checksum: str | None = Field(description="SHA-256 of the report's SHA256SUMS; null if it was erased")
    signature: Literal["good", "bad", "unsigned"]
    signed_by: str | None
    versions: list[ReportVersionAnswer] = Field(description="every version, the newest first")


class DamagedReportAnswer(BaseModel):
    """A version of a report with a file that is not the published one."""

    year: str
    version: int
    damage: str = Field(description="what is wrong with it")


class ReportsAnswer(BaseModel):
    """Annual reports, the latest first."""

    reports: list[ReportAnswer]
    damaged: list[DamagedReportAnswer]
