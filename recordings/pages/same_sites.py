"""Sites of a release, which intervals resample: registrable domains, or the numbers that the sets which come
with the code share."""

import csv
import functools
import re

import pyarrow as pa
import pyarrow.parquet as pq

from recordings.pages.sets import AUGUST_2025, YEARS
from releases.catalogue import Release
from releases.changes import Selection, Values, values_by_site
from releases.strata.party import registrable_domain
from schema.recorded import is_recorded

SITE_KEYS = YEARS / "site_keys.csv"

MADE_UP = ".invalid"
"""Ending of hosts without a name."""

MIDDLE_DAY, LAST_DAY = 15, 31

LOCAL_WEB = ".test"
"""Ending that the local web adds to the names of the web."""


@functools.cache
def site_keys(name: str) -> dict[int, str]:
    """Return the site by page number, with the same name in every set."""
    with SITE_KEYS.open(encoding="utf-8", newline="") as file:
        return {int(row["page"]): f"site-{row['site']}" for row in csv.DictReader(file) if row["set"] == name}


def are_joined(first: str, second: str) -> bool:
    """Return whether two sets name all common sites alike.

    Sites of Tranco's sets were numbered beside those of August 2025 alone, so that of an older set only the
    sites that August has too would count.
    """
    of_tranco = {name.startswith("tranco-") for name in (first, second)}
    return len(of_tranco) == 1 or AUGUST_2025 in (first, second)


def recorded_on(release: Release) -> str:
    """Return the day of a release's recording, YYYY-MM-DD; else the middle of its month."""
    days = re.findall(r"\d+", str((release.recording or {}).get("recorded")))
    day = int(days[0]) if days and 0 < int(days[0]) <= LAST_DAY else MIDDLE_DAY
    return f"{release.crawl.month}-{day:02}"


def sites_of(release: Release) -> pa.Table:
    """Return sites by `rank`, as other releases name them, without made-up hosts; OSError or ArrowException
    if damaged.
    """
    names: dict[int, str] = {}
    if is_recorded(release.crawl.kind):
        names = site_keys(release.manifest.list_id)
    if not names:
        listed = pq.read_table(release.file("site"), columns=["rank", "host"], partitioning=None)
        names = {
            rank: _site(host)
            for rank, host in zip(listed["rank"].to_pylist(), listed["host"].to_pylist(), strict=True)
            if not host.endswith(MADE_UP)
        }
    ranks, sites = pa.array(names.keys(), pa.int32()), pa.array(names.values(), pa.string())
    return pa.table({"rank": ranks, "site": sites})


def _site(host: str) -> str:
    """Return the registrable domain, of the local web that before its ending.

    >>> _site("www.example.co.uk"), _site("en.wikipedia.org.test"), _site("fr.wikipedia.org.test")
    ('example.co.uk', 'wikipedia.org.test', 'wikipedia.org.test')
    """
    name = host.removesuffix(LOCAL_WEB)
    return registrable_domain(name) + host[len(name) :]


def values_of(release: Release, asked: Selection) -> Values:
    """Return each site's values, by names that releases share."""
    return values_by_site(release, sites_of(release), asked)
