"""Fetches public lists of sites into a folder, each whole or not at all, by version or the newest.

A version is fetched once: Tranco's ids and CrUX's months are permanent, and of Umbrella, Majestic and Radar,
which have one address for every day, it is the day on which the list was fetched.
"""

import dataclasses
import datetime
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from crawler.sites import lists
from crawler.sites.lists import ListError, Sites
from storage.staging import put_file_in_place


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a public list is fetched from."""

    base: str
    suffix: str
    newest: str = ""
    """Path of the newest list; empty where each version has its own."""


SOURCES = {
    # Le Pochat et al., "Tranco: A Research-Oriented Top Sites Ranking Hardened Against Manipulation",
    # NDSS 2019.
    "tranco": Source(base="https://tranco-list.eu", suffix=".csv"),
    # CrUX's monthly origins as plain files; their source is a BigQuery table.
    "crux": Source(
        base="https://raw.githubusercontent.com/zakird/crux-top-lists/main/data/global", suffix=".csv.gz"
    ),
    "umbrella": Source(
        base="https://s3-us-west-1.amazonaws.com/umbrella-static",
        suffix=".csv.zip",
        newest="top-1m.csv.zip",
    ),
    "majestic": Source(base="https://downloads.majestic.com", suffix=".csv", newest="majestic_million.csv"),
    "radar": Source(
        base="https://api.cloudflare.com/client/v4/radar/datasets",
        suffix=".csv",
        newest="ranking_top_1000000",
    ),
}

TRANCO_ENTRIES = 1_000_000

CRUX_MONTHS = 4
"""Months back to which CrUX's newest list is looked for; it is published in the middle of the next month."""

TIMEOUT_S = 60.0
PIECE_BYTES = 1 << 16

_ID = re.compile(r"[A-Z0-9]{4,8}")


class MissingList(ListError):
    """The server has no such list."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """A folder of fetched public lists, and the servers that they come from."""

    folder: Path
    mirror: str | None = None
    """In place of all servers, with each list's paths below its name."""
    radar_token: str | None = None

    def fetch_newest(self, source: str, *, entries: int | None = None, today: datetime.date) -> Sites:
        """Return a source's newest list; ListError if it cannot be had."""
        if source == "tranco":
            return self.fetch_tranco(self._find_tranco_id("top-1m-id", what="newest"), entries=entries)
        if source == "crux":
            return self._fetch_newest_crux(today)
        return self._fetch(source, f"{today:%Y-%m-%d}", SOURCES[source].newest)

    def fetch_tranco(self, list_id: str, *, entries: int | None = None) -> Sites:
        """Return the head of a Tranco list; ListError if it is missing or shorter."""
        if not _ID.fullmatch(list_id):
            raise ListError(f"{lists.quote(list_id)} is no id of a Tranco list: they look like K2LPW")
        entries = entries or TRANCO_ENTRIES
        version = list_id if entries == TRANCO_ENTRIES else f"{list_id}-top{entries}"
        sites = self._fetch("tranco", version, f"download/{list_id}/{entries}")
        try:
            _check_whole(sites, list_id, entries)
        except ListError:
            self._path("tranco", version).unlink()
            raise
        return sites

    def fetch_tranco_of(self, day: datetime.date, *, entries: int | None = None) -> Sites:
        path = f"daily_list_id?date={day:%Y-%m-%d}&subdomains=false"
        return self.fetch_tranco(self._find_tranco_id(path, what=f"{day:%Y-%m-%d}"), entries=entries)

    def fetch_crux(self, month: str) -> Sites:
        """Return CrUX's origins of a month; ListError if the month, YYYY-MM, is missing or cut short."""
        return self._fetch("crux", month, f"{month.replace('-', '')}.csv.gz")

    def find(self, name: str, *, entries: int | None = None) -> Sites:
        """Return a list by its id (`tranco:K2LPW`, `crux:2026-10`), or from the file of that name.

        ListError if it was not fetched. More `entries` of Tranco's are fetched.
        """
        source, colon, version = name.partition(":")
        if not colon or source not in SOURCES:
            return lists.read_list(Path(name))
        if "/" in version or not self._path(source, version).exists():
            raise ListError(f"the list {lists.quote(name)} is not here: fetch it by `firstflight list fetch`")
        sites = self._read(source, version)
        if source == "tranco" and len(sites.entries) + sites.skipped < (entries or 0):
            return self.fetch_tranco(version.partition("-")[0], entries=entries)
        return sites

    def find_last(self, source: str, *, entries: int | None = None) -> Sites:
        """Return a source's list that was fetched last, with `entries` at least; ListError if there is
        none."""
        suffix = SOURCES[source].suffix
        paths = sorted((self.folder / source).glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime)
        for path in reversed(paths):
            sites = self._read(source, path.name.removesuffix(suffix))
            if source != "tranco" or len(sites.entries) + sites.skipped >= (entries or TRANCO_ENTRIES):
                return sites
        raise ListError(f"no list of {source} was fetched before")

    def _fetch_newest_crux(self, today: datetime.date) -> Sites:
        number = 12 * today.year + today.month - 1
        months = [f"{at // 12}-{at % 12 + 1:02}" for at in range(number, number - CRUX_MONTHS, -1)]
        for month in months:
            try:
                return self.fetch_crux(month)
            except MissingList:
                continue
        raise ListError(f"CrUX has no list of {months[-1]} to {months[0]}: {self._base('crux')}")

    def _find_tranco_id(self, path: str, *, what: str) -> str:
        body = _get(f"{self._base('tranco')}/{path}", what=f"the id of Tranco's list ({what})")
        list_id = body.decode("utf-8", "replace").strip()
        if not _ID.fullmatch(list_id):
            raise ListError(f"Tranco names no list ({what}): choose a day by --date, or an id by --id")
        return list_id

    def _fetch(self, source: str, version: str, path: str) -> Sites:
        """Return a version of a list, fetched unless it is here."""
        file, what = self._path(source, version), f"the list {source}:{version}"
        if not file.exists():
            headers = {}
            if source == "radar":
                if self.radar_token is None:
                    raise ListError(
                        "Radar's list needs a token of Cloudflare's API: put it into FIRSTFLIGHT_RADAR_TOKEN"
                    )
                headers["Authorization"] = f"Bearer {self.radar_token}"
            _save(_get(f"{self._base(source)}/{path}", what=what, headers=headers), file)
        try:
            return self._read(source, version)
        except ListError:
            file.unlink()
            raise

    def _read(self, source: str, version: str) -> Sites:
        path = self._path(source, version)
        sites = lists.read_list(path, source=source, version=version)
        fetched_at = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
        return dataclasses.replace(sites, fetched_at=fetched_at)

    def _path(self, source: str, version: str) -> Path:
        return self.folder / source / f"{version}{SOURCES[source].suffix}"

    def _base(self, source: str) -> str:
        return SOURCES[source].base if self.mirror is None else f"{self.mirror.rstrip('/')}/{source}"


def _check_whole(sites: Sites, list_id: str, entries: int) -> None:
    count = len(sites.entries) + sites.skipped
    last = sites.entries[-1].rank
    if count != last:
        raise ListError(
            f"the Tranco list {list_id} has {count:,} sites up to rank {last:,}: some are missing"
        )
    if count != entries:
        raise ListError(
            f"the Tranco list {list_id} is cut short: {count:,} sites of {entries:,}; "
            "fetch it again, or ask for fewer"
        )


def _save(content: bytes, path: Path) -> None:
    try:
        with put_file_in_place(path) as half, half.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise ListError(f"{path} cannot be written: {exc.strerror or exc}") from exc


def _get(url: str, *, what: str, headers: Mapping[str, str] | None = None) -> bytes:
    """Fetch a body; ListError if it is missing, cut short or too large."""
    request = urllib.request.Request(url, headers={"User-Agent": "firstflight", **(headers or {})})  # noqa: S310  # ours, or the operator's mirror
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            content = bytearray()
            while piece := response.read(PIECE_BYTES):
                content += piece
                if len(content) > lists.SIZE_LIMIT:
                    raise ListError(f"{what} is larger than {lists.SIZE_LIMIT:,} bytes: {url}")
            announced = response.headers.get("Content-Length")
    except urllib.error.HTTPError as exc:
        if exc.code == http.HTTPStatus.NOT_FOUND:
            raise MissingList(f"{what} does not exist: {url}") from exc
        raise ListError(f"{what} is not given out ({exc.code}): {url}") from exc
    except (OSError, http.client.HTTPException, ValueError) as exc:
        reason = getattr(exc, "reason", None) or exc
        raise ListError(f"{what} cannot be fetched ({reason}): {url}") from exc
    if announced is not None and announced.isdecimal() and len(content) < int(announced):
        raise ListError(f"{what} is cut short: {len(content):,} bytes of {int(announced):,}; fetch it again")
    if not content:
        raise ListError(f"{what} is empty: {url}")
    return bytes(content)
