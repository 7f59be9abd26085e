"""The shapes of the JSON answers; OpenAPI is derived from them. No answer is a bare array: each can grow."""

from __future__ import annotations

import datetime  # noqa: TC003  # pydantic reads the annotation
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.distributions import Point  # noqa: TC001  # pydantic reads the annotation


class Provenance(BaseModel):
    """Where the numbers of an answer come from."""

    crawl: str = Field(description="name of the crawl: month.device.vantage.arm.kind")
    version: int = Field(description="version of its release")
    checksum: str = Field(description="SHA-256 of the release's SHA256SUMS: names the whole release")
    signature: Literal["good", "bad", "unsigned"] = Field(
        description="whether SHA256SUMS is signed by a signer that this service knows"
    )
    signed_by: str | None = Field(description="name of the signer; null unless the signature is good")
    is_checked: bool = Field(
        description="whether every file has been compared with its checksum by now; none is served before"
    )
    quality: str = Field(description="observed, or illustrative: not evidence about the live web")
    quality_means: str = Field(description="the quality level in words")
    licence: str = Field(description="licence of the data")
    cite_as: str = Field(description="how to cite it")
    url: str = Field(description="the release's page")


class CrawlAnswer(BaseModel):
    """One crawl, as its newest release has it."""

    crawl: str
    month: str
    device: str
    vantage: str
    arm: str
    kind: str
    versions: list[int] = Field(description="versions of its release, the newest first")
    provenance: Provenance


class DamagedAnswer(BaseModel):
    """A version of a release that is not what was published; it is in no other list until it was restored."""

    crawl: str
    version: int
    damage: str = Field(description="what is wrong with it")


class WithdrawnAnswer(BaseModel):
    """A version of a release that was taken back."""

    crawl: str
    version: int


class VersionsAside(BaseModel):
    """Versions that are listed and not served."""

    damaged: list[DamagedAnswer]
    withdrawn: list[WithdrawnAnswer]


class CrawlsAnswer(VersionsAside):
    """Every crawl that has a release, the newest month first."""

    crawls: list[CrawlAnswer]


class ProgressAnswer(BaseModel):
    """A crawl under way."""

    crawl: str
    at: datetime.datetime = Field(description="when it was counted")
    planned: int = Field(description="sites")
    done: int = Field(description="sites that have their final visit")
    visits: int
    received_bytes: int
    visits_per_hour: float | None = Field(description="of late; null where nobody knows")
    minutes_left: int | None = Field(description="null where nobody knows")
    outcomes: dict[str, int] = Field(description="final visits by outcome")


class ProgressesAnswer(BaseModel):
    """Crawls under way: they are not sealed, and nothing is released of them."""

    crawls: list[ProgressAnswer]


class FileAnswer(BaseModel):
    """One file of a release."""

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
    """Releases, the newest month and its highest version first."""

    releases: list[ReleaseAnswer]


class FitAnswer(BaseModel):
    """What fits into one window of full segments."""

    iw: int = Field(description="window in segments")
    window_bytes: int = Field(description="iw times mss")
    count: int = Field(description="members of at most that size")
    share: float | None = Field(description="count over known; null where no size is known")


class QuantileAnswer(BaseModel):
    """One exact quantile."""

    percent: int
    size_bytes: int = Field(description="the least size that at least so many percent do not exceed")


class DistributionAnswer(BaseModel):
    """The distribution of one measure."""

    measure: str
    definition: str
    known: int = Field(description="members whose size is known")
    unknown: int = Field(description="members whose size is not known; they are in no share")
    fits: list[FitAnswer]
    quantiles: list[QuantileAnswer]
    points: list[Point] = Field(description="true steps of the CDF, thinned; distribution.parquet has all")


class DistributionsAnswer(BaseModel):
    """Distributions of one release, held against windows."""

    provenance: Provenance
    mss: int = Field(description="payload of a full segment, in bytes")
    distributions: list[DistributionAnswer]


class ReportAnswer(BaseModel):
    """One annual report."""

    year: str
    url: str
    json_url: str
    summary_url: str
    checksum: str | None = Field(
        description="SHA-256 of the report's SHA256SUMS; null for one made before reports had sums"
    )
    signature: Literal["good", "bad", "unsigned"]
    signed_by: str | None


class DamagedReportAnswer(BaseModel):
    """A report of which a file is not what was published."""

    year: str
    damage: str = Field(description="what is wrong with it")


class ReportsAnswer(BaseModel):
    """Annual reports, the latest first."""

    reports: list[ReportAnswer]
    damaged: list[DamagedReportAnswer]
