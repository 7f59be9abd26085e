"""The same site in several releases: by its host, or by the number that the sets which come with the code
share."""

import csv
import functools

from recordings.pages.recording import YEARS
from releases.catalogue import Release
from releases.changes import Asked, Values, site_names, values_by_site

SITE_KEYS = YEARS / "site_keys.csv"
"""Pages of the sets that come with the code, with a number for each site that is in two or more of them."""


@functools.cache
def site_keys(name: str) -> dict[int, str]:
    """Return the site of each page of a set that is in another set as well, by the page's number: the
    same name in every set."""
    with SITE_KEYS.open(encoding="utf-8", newline="") as file:
        return {int(row["page"]): f"site-{row['site']}" for row in csv.DictReader(file) if row["set"] == name}


def values_of(release: Release, asked: Asked) -> Values:
    """Return each site's values in a release, by names that other releases share."""
    return values_by_site(release, site_names(release, site_keys(release.manifest.list_id)), asked)
