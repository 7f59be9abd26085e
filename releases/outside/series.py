"""The outside series that firstflight knows: what each counts, whence it is, its licence,
and its publisher's own breaks."""

import dataclasses
from typing import Literal

Statistic = Literal["p10", "p25", "p50", "p75", "p90", "share"]

QUANTILES: tuple[Statistic, ...] = ("p10", "p25", "p50", "p75", "p90")
STATISTICS: tuple[Statistic, ...] = (*QUANTILES, "share")
"""Columns of values in the stored form."""

REPORTS_LICENCE = (
    "The repository rfordatascience/tidytuesday, which published the file, states MIT; HTTP Archive states "
    "no licence for its reports. The values are facts."
)
APACHE = "Apache-2.0"

FIT_BYTES = 14_600
"""Size up to which the share of pervasive resources is counted:
an initial window of 10 segments of 1,460 bytes."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """What a series counts, and whence it is."""

    # Stable: stored with imported data, and part of URLs.
    id: str
    title: str
    unit: str
    definition: str
    source: str
    licence: str
    url: str
    """Page of the publisher."""
    is_yearly: bool = False
    """True for single points of yearly chapters, which nothing joins."""

    @property
    def spdx(self) -> str:
        """SPDX identifier of the licence that is stated for the values."""
        return "MIT" if self.licence == REPORTS_LICENCE else self.licence


SITE = "https://httparchive.org/reports/page-weight"
REPOSITORY = "HTTPArchive/httparchive.org, static/json, commits cc79d2bea10a and 2fa2f0b86b78"
ALMANAC = "HTTPArchive/almanac.httparchive.org, the page-weight chapters of 2020 to 2025, as printed"
CHAPTERS = "https://almanac.httparchive.org/"
PER_RESPONSE = "Quantiles over responses of this type."


def _almanac(name: str, title: str, unit: str, definition: str) -> Kind:
    return Kind(
        id=f"almanac-{name}",
        title=title,
        unit=unit,
        definition=definition,
        source=ALMANAC,
        licence=APACHE,
        url=CHAPTERS,
        is_yearly=True,
    )


KINDS: dict[str, Kind] = {
    kind.id: kind
    for kind in (
        Kind(
            id="page-weight",
            title="Page weight",
            unit="KB",
            definition="Quantiles over home pages of the sum of transfer sizes of all resources of a "
            "page, in HTTP Archive's KB of 1,024 bytes.",
            source="HTTP Archive's report bytesTotal, as in rfordatascience/tidytuesday, "
            "data/2022/2022-11-15, commit be4eff68cb02",
            licence=REPORTS_LICENCE,
            url=SITE,
        ),
        Kind(
            id="javascript-bytes",
            title="JavaScript on a page",
            unit="bytes",
            definition="Quantiles over home pages of the sum of transfer sizes of all scripts of a page.",
            source=REPOSITORY,
            licence=APACHE,
            url=SITE,
        ),
        Kind(
            id="javascript-requests",
            title="Requests for scripts on a page",
            unit="requests",
            definition="Quantiles over home pages of the number of scripts that a page requests.",
            source=REPOSITORY,
            licence=APACHE,
            url=SITE,
        ),
        _almanac(
            "page_bytes",
            "Page weight, by the Web Almanac",
            "KB",
            "Quantiles over pages of the sum of transfer sizes.",
        ),
        _almanac(
            "requests",
            "Requests of a page, by the Web Almanac",
            "requests",
            "Quantiles over pages of the number of requests.",
        ),
        _almanac("response_bytes_script", "Size of a script, by the Web Almanac", "KB", PER_RESPONSE),
        _almanac("response_bytes_image", "Size of an image, by the Web Almanac", "KB", PER_RESPONSE),
        _almanac("response_bytes_font", "Size of a font, by the Web Almanac", "KB", PER_RESPONSE),
        _almanac("html_bytes_per_page", "HTML of a page, by the Web Almanac", "KB", "Quantiles over pages."),
        _almanac("css_bytes_per_page", "CSS of a page, by the Web Almanac", "KB", "Quantiles over pages."),
        _almanac(
            "js_bytes_per_page", "JavaScript of a page, by the Web Almanac", "KB", "Quantiles over pages."
        ),
        _almanac(
            "image_bytes_per_page", "Images of a page, by the Web Almanac", "KB", "Quantiles over pages."
        ),
        Kind(
            id="pervasive-sizes",
            title="Sizes of pervasive resources",
            unit="bytes",
            definition="Quantiles of the sizes of bodies of cacheable scripts and styles over 1,000 bytes "
            "that are on more than 20,000 pages of a month, weighted by how often they occur; and the share "
            "of occurrences of at most 14,600 bytes.",
            source="HTTPArchive/pervasive, data/2025-01 to 2026-01, commit 225849aa2b40; "
            "counted by firstflight",
            licence=APACHE,
            url="https://github.com/HTTPArchive/pervasive",
        ),
    )
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Break:
    """A change of the publisher's method, after which values are not of the same thing as before."""

    date: str
    text: str
    clients: tuple[str, ...] = ("desktop", "mobile", "both")
    is_yearly_too: bool = False
    """True if it parts the yearly points as well."""
    series: tuple[str, ...] = ()
    """Series that it parts; all if empty."""
    lost_until: str = ""
    """Last date whose values were lost, of a break that begins a loss: zeros in the source,
    which are no values."""


CHANGELOG = "HTTPArchive/httparchive.org, static/json/changelog.json, commit 160aa6593d84 (Apache-2.0)"
"""Where the publisher states its breaks before 2024; that of 2024 is stated in the Web Almanac's chapters."""

BREAKS = (
    Break(date="2012-03-15", text="Internet Explorer 9 in place of 8.", clients=("desktop",)),
    Break(date="2012-05-01", text="200,000 URLs, 100,000 before.", clients=("desktop",)),
    Break(date="2012-07-01", text="WebPagetest on other iPhones in another place.", clients=("mobile",)),
    Break(date="2012-09-01", text="300,000 URLs on desktop (200,000 before), 5,000 on mobile (2,000)."),
    Break(
        date="2012-10-01", text="Recording went on until the network was idle; until the load event before."
    ),
    Break(date="2016-03-01", text="Chrome in place of Internet Explorer and of the iPhone."),
    Break(
        date="2016-12-15",
        text="Data of desktop crawls were lost until 15 January 2017: the reports have zeros, "
        "which are left out here.",
        clients=("desktop",),
        series=("javascript-bytes", "javascript-requests"),
        lost_until="2017-01-15",
    ),
    Break(date="2017-05-01", text="Test agents on Linux."),
    Break(date="2018-07-01", text="1.3 million URLs of the Chrome UX Report in place of Alexa's list."),
    Break(date="2018-12-15", text="All URLs of the Chrome UX Report."),
    Break(
        date="2022-06-01",
        text="An emulated 4G network in place of 3G.",
        clients=("mobile",),
        is_yearly_too=True,
    ),
    Break(
        date="2024-01-01",
        text="Home and inner pages apart or together; home pages alone before.",
        is_yearly_too=True,
    ),
)
"""The publisher's own breaks, the earliest first."""


def is_lost(series: str, client: str, date: str) -> bool:
    """Return whether the publisher lost the values of this date."""
    return any(
        break_.date <= date <= break_.lost_until and client in break_.clients and series in break_.series
        for break_ in BREAKS
    )
