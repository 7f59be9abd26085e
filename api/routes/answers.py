"""Models of the JSON answers, from which OpenAPI is generated.

No answer is a bare array, so that fields can be added.
"""

import datetime  # pydantic reads the annotation
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from releases.cdf import is_stated
from releases.errata import Concerned
from releases.initial_windows import WindowShare
from releases.strata.bootstrap import CONFIDENCE
from storage.notices import VersionStatus


class AnswerModel(BaseModel):
    """Part of an answer; the docstring below a field is its description in OpenAPI."""

    # Fields with a default are in every answer too.
    model_config = ConfigDict(use_attribute_docstrings=True, json_schema_serialization_defaults_required=True)


class SignedAnswer(AnswerModel):
    """What is signed."""

    signature: Literal["good", "bad", "unsigned"]
    """Good if SHA256SUMS is signed by a signer that this service knows."""
    signed_by: str | None
    """Name of the signer; null unless the signature is good."""


class Provenance(SignedAnswer):
    """Origin of the numbers in an answer."""

    crawl: str
    """Name of the crawl: month.device.vantage.arm.kind."""
    version: int
    """Version of its release."""
    checksum: str
    """SHA-256 of the release's SHA256SUMS, which identifies the whole release."""
    is_checked: bool
    """True if every file has been compared with its checksum; a file is never served before it has been
    compared."""
    quality: str
    """Quality: observed, recorded (pages that somebody else recorded), or illustrative, which is no
    evidence about the live web."""
    quality_means: str
    """Meaning of the quality."""
    licence: str
    """Licence of the data."""
    cite_as: str
    """How to cite it; if it is illustrative, why it is not to be cited."""
    url: str
    """Page of the release."""
    errata: list[str] = Field(default_factory=list)
    """Addresses of what was found wrong in the release after its publication, the newest first."""


class CrawlAnswer(AnswerModel):
    """A crawl, by its newest release."""

    crawl: str
    month: str
    device: str
    vantage: str
    arm: str
    kind: str
    versions: list[int]
    """Versions of the release, the newest first."""
    provenance: Provenance


class DamagedAnswer(AnswerModel):
    """A version of a release whose files are not the published ones;
    it is in no other list until it is restored."""

    crawl: str
    version: int
    damage: str
    """What is wrong with it."""


class WithdrawnAnswer(AnswerModel):
    """A version of a release that was withdrawn."""

    crawl: str
    version: int


class VersionsAside(AnswerModel):
    """Versions that are listed but not served."""

    damaged: list[DamagedAnswer]
    withdrawn: list[WithdrawnAnswer]


class ErratumAnswer(SignedAnswer):
    """What was found wrong in releases after their publication."""

    number: int
    date: str
    """Day on which it was recorded."""
    url: str
    """Its place on the page of errata."""
    releases: list[Concerned]
    wrong: str
    """What is wrong."""
    advice: str
    """What readers should do."""
    columns: list[str]
    """Columns that are wrong, as response.header_bytes; empty if it is about no particular column."""
    since: str | None
    """First month or day whose observations are wrong; null for all of them."""
    replaces: int | None
    """Number of the erratum that this one stands in for."""
    replaced_by: int | None
    """Number of the erratum that stands in for this one."""


class ErrataAnswer(VersionsAside):
    """Errata of releases, the newest first, with the versions that were withdrawn."""

    errata: list[ErratumAnswer]
    damaged_errata: list[int]
    """Numbers of errata that are not as they were recorded and must be restored from a copy."""


class CrawlsAnswer(VersionsAside):
    """Every crawl that has a release, the newest month first."""

    crawls: list[CrawlAnswer]


class ProgressAnswer(AnswerModel):
    """A running crawl, without what its page alone shows: machines, single visits, bounds and disk."""

    crawl: str
    at: datetime.datetime
    """Time of the counts."""
    planned: int
    """Number of sites planned."""
    done: int
    """Number of sites that have their final visit."""
    visits: int
    received_bytes: int
    visits_per_hour: float | None
    """Recent rate; null if unknown."""
    minutes_left: int | None
    """Null if unknown."""
    outcomes: dict[str, int]
    """Final visits by outcome."""


class ProgressesAnswer(AnswerModel):
    """Running crawls: they are not sealed, and none of their data is released."""

    crawls: list[ProgressAnswer]


class FileAnswer(AnswerModel):
    """One file of a release or of a report."""

    name: str
    url: str
    bytes: int
    sha256: str


class ReleaseAnswer(AnswerModel):
    """One version of a release."""

    provenance: Provenance
    manifest: dict[str, Any]
    """`manifest.json`, as released."""
    files: list[FileAnswer]


class ReleasesAnswer(VersionsAside):
    """A page of releases, the newest month and its highest version first;
    all that are not served stand on every page."""

    releases: list[ReleaseAnswer]
    next: str | None
    """URL of the page after this one; null after the last release."""


class FitAnswer(AnswerModel):
    """How many items fit into one window of full segments."""

    iw: int
    """Window in segments."""
    window_bytes: int
    """`iw` times `mss`."""
    count: int
    """Number of items of at most that size."""
    share: float | None
    """Count divided by known; null if no size is known."""
    lower: float | None = None
    """Lower end of the share's confidence interval, over sites."""
    upper: float | None = None
    """Upper end of the share's confidence interval."""


class QuantileAnswer(AnswerModel):
    """An exact quantile."""

    percent: int
    size_bytes: int
    """Smallest size that at least `percent` % of the items do not exceed."""
    lower_bytes: int | None = None
    """Lower end of its confidence interval, over sites."""
    upper_bytes: int | None = None
    """Upper end of its confidence interval."""


class Point(AnswerModel):
    """One step of the empirical CDF."""

    size_bytes: int
    cdf: float


class DistributionAnswer(AnswerModel):
    """The distribution of one measure."""

    measure: str
    definition: str
    known: int
    """Number of items of known size."""
    unknown: int
    """Number of items of unknown size, which no share includes."""
    sites: int
    """Number of sites, registrable domains, with an item of known size."""
    interval_unknown: str | None
    """Why the confidence intervals are unknown; null if they are known."""
    fits: list[FitAnswer]
    quantiles: list[QuantileAnswer]
    points: list[Point]
    """Some steps of the exact CDF; distribution.parquet has all of them."""

    @property
    def is_stated(self) -> bool:
        """Return whether enough sizes are known to state a share of them as that of all."""
        return is_stated(self)


class DistributionsAnswer(AnswerModel):
    """Distributions of one release, compared with windows."""

    provenance: Provenance
    mss: int
    """Payload of a full segment, in bytes."""
    incomplete_responses: int
    """Responses that broke off or had not ended when recording stopped; they are in the measure
    `responses_incomplete` alone."""
    incomplete_share: float | None
    """Their share of all responses that crossed the network; null if none did."""
    stratum: dict[str, str | int] = Field(default_factory=dict)
    """Value of each dimension that was asked for; empty for every item of home pages."""
    stratum_unknown: str | None = None
    """Why the release does not know the stratum, so that it has no distribution; null if it does."""
    confidence: float = CONFIDENCE
    """Confidence level of the intervals."""
    distributions: list[DistributionAnswer]


class WindowsAnswer(AnswerModel):
    """Initial windows of some connections."""

    connections: Literal["clear", "tls", "all"]
    """Those in clear text, those over TLS, or both, by their numbers."""
    exact: int
    """Connections whose window is known exactly."""
    bounded: int
    """Connections whose window lies between two bounds."""
    at_least: int
    """Connections with a lower bound alone."""
    unknown: int
    """Connections of whose window nothing is known, which nothing else counts."""
    shares: list[WindowShare]
    """The likeliest for all bounds together (Turnbull's estimate), each of an interval within which it may
    lie anywhere."""


class InitialWindowsAnswer(AnswerModel):
    """Initial windows that the servers of one release used on TCP connections."""

    provenance: Provenance
    windows: list[WindowsAnswer]
    """Empty if no packets were captured."""


class ReportVersionAnswer(SignedAnswer):
    """One version of a year's report."""

    version: int
    url: str
    """Its page, at an address that stays."""
    standing: VersionStatus
    date: str | None
    """Day of the publication; null if it is not known."""
    reason: str | None
    """Why it was made; null for the first."""
    corrects: str | None
    """What it corrects in the version before; null for the first."""
    supersedes: str | None
    """Checksum of the version before; null for the first."""
    changed: list[str]
    """Inputs that differ from those of the version before."""
    withdrawn_on: str | None
    """Null unless it was withdrawn and the day is known."""
    withdrawn_because: str | None
    """Null unless it was withdrawn."""
    damage: str | None
    """What is wrong with its files; null if nothing is."""
    checksum: str | None
    """SHA-256 of its SHA256SUMS; null if it was erased."""
    licence: str
    """URL of the licence."""
    cite_as: str
    """How to cite it."""
    files: list[FileAnswer]
    """Its files as they were published; empty if it is damaged or erased."""


class ReportAnswer(SignedAnswer):
    """A year's report, by its newest version that was not withdrawn."""

    year: str
    version: int
    standing: VersionStatus
    """Withdrawn or erased if no version is in force."""
    url: str
    """An address that leads to the newest version."""
    json_url: str
    summary_url: str
    errata_url: str
    """Page of all versions, and of what later ones correct."""
    checksum: str | None
    """SHA-256 of the report's SHA256SUMS; null if it was erased."""
    versions: list[ReportVersionAnswer]
    """Every version, the newest first."""


class DamagedReportAnswer(AnswerModel):
    """A version of a report with a file that is not the published one."""

    year: str
    version: int
    damage: str
    """What is wrong with it."""


class ReportsAnswer(AnswerModel):
    """Annual reports, the latest first."""

    reports: list[ReportAnswer]
    damaged: list[DamagedReportAnswer]
