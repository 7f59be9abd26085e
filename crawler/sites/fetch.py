"""Fetches public lists into a folder, each whole or not at all: Tranco by id or day, CrUX by month.

A list is fetched once: Tranco's ids and CrUX's months are permanent.
"""

import datetime
import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from crawler.sites import lists
from crawler.sites.lists import ListError, Sites
from storage.staging import put_file_in_place

TRANCO = "https://tranco-list.eu"
"""Le Pochat et al., "Tranco: A Research-Oriented Top Sites Ranking Hardened Against Manipulation",
NDSS 2019."""

CRUX = "https://raw.githubusercontent.com/zakird/crux-top-lists/main/data/global"
"""CrUX's monthly origins as plain files; their source is a BigQuery table."""

TRANCO_ENTRIES = 1_000_000
"""Sites of a Tranco list by default."""

TIMEOUT_S = 60.0
PIECE_BYTES = 1 << 16

_ID = re.compile(r"[A-Z0-9]{4,8}")


def fetch_tranco(folder: Path, list_id: str, *, entries: int = TRANCO_ENTRIES, base: str = TRANCO) -> Sites:
    """Return the head of a Tranco list; ListError if the list is missing or shorter than `entries`."""
    if not _ID.fullmatch(list_id):
        raise ListError(f"{lists.quote(list_id)} is no id of a Tranco list: they look like K2LPW")
    version = list_id if entries == TRANCO_ENTRIES else f"{list_id}-top{entries}"
    path = folder / "tranco" / f"{version}.csv"
    if not path.exists():
        _save(f"{base}/download/{list_id}/{entries}", path, what=f"the Tranco list {list_id}")
    try:
        sites = lists.read_list(path, source="tranco", version=version)
        _check_whole(sites, list_id, entries)
    except ListError:
        path.unlink()
        raise
    return sites


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
            "fetch it again, or ask for fewer by --entries"
        )


def fetch_tranco_id(day: datetime.date, *, base: str = TRANCO) -> str:
    """Return the id of a day's Tranco list of pay-level domains; ListError if the day has none."""
    url = f"{base}/daily_list_id?date={day:%Y-%m-%d}&subdomains=false"
    list_id = _get(url, what=f"the Tranco list of {day:%Y-%m-%d}").decode("utf-8", "replace").strip()
    if not _ID.fullmatch(list_id):
        raise ListError(f"Tranco names no list for {day:%Y-%m-%d}: choose another day, or an id")
    return list_id


def fetch_crux(folder: Path, month: str, *, base: str = CRUX) -> Sites:
    """Return CrUX's origins of a month, YYYY-MM; ListError if the month is missing or its file cut short."""
    path = folder / "crux" / f"{month}.csv.gz"
    if not path.exists():
        _save(f"{base}/{month.replace('-', '')}.csv.gz", path, what=f"the CrUX list of {month}")
    try:
        return lists.read_list(path, source="crux", version=month)
    except ListError:
        path.unlink()
        raise


def find_list(folder: Path, name: str) -> Sites:
    """Read a fetched list by its id (`tranco:K2LPW`, `crux:2026-10`), or a list in a file."""
    source, colon, version = name.partition(":")
    suffix = {"tranco": ".csv", "crux": ".csv.gz"}.get(source)
    if not colon or suffix is None:
        return lists.read_list(Path(name))
    path = folder / source / f"{version}{suffix}"
    if "/" in version or not path.exists():
        raise ListError(f"the list {lists.quote(name)} is not here: fetch it by `firstflight list fetch`")
    return lists.read_list(path, source=source, version=version)


def _save(url: str, path: Path, *, what: str) -> None:
    """Save the body of a URL, whole or not at all."""
    content = _get(url, what=what)
    try:
        with put_file_in_place(path) as half, half.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise ListError(f"{path} cannot be written: {exc.strerror or exc}") from exc


def _get(url: str, *, what: str) -> bytes:
    """Fetch a body; ListError if it is missing, cut short or larger than any list."""
    request = urllib.request.Request(url, headers={"User-Agent": "firstflight"})  # noqa: S310  # ours, https
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            content = bytearray()
            while piece := response.read(PIECE_BYTES):
                content += piece
                if len(content) > lists.SIZE_LIMIT:
                    raise ListError(f"{what} is larger than {lists.SIZE_LIMIT:,} bytes: {url}")
            announced = response.headers.get("Content-Length")
    except urllib.error.HTTPError as exc:
        missing = (
            "does not exist" if exc.code == http.HTTPStatus.NOT_FOUND else f"is not given out ({exc.code})"
        )
        raise ListError(f"{what} {missing}: {url}") from exc
    except (OSError, http.client.HTTPException) as exc:
        reason = getattr(exc, "reason", None) or exc
        raise ListError(f"{what} cannot be fetched ({reason}): {url}") from exc
    if announced is not None and announced.isdecimal() and len(content) < int(announced):
        raise ListError(f"{what} is cut short: {len(content):,} bytes of {int(announced):,}; fetch it again")
    if not content:
        raise ListError(f"{what} is empty: {url}")
    return bytes(content)
