"""M-Lab's IQB files: percentiles of a month's NDT downloads by country, checked by their SHA-256.

IQB is M-Lab's Internet Quality Barometer (repository m-lab/iqb). In the files, the labels of latency and loss
are inverted: `latency_p5` is the 95th percentile, since IQB ranks from bad to good.
"""

import csv
import gzip
import hashlib
import http.client
import itertools
import json
import math
import re
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from replay.networks.population_csv import PopulationError

PERCENTS = (1, 5, 10, 25, 50, 75, 90, 95, 99)

BUCKET = "https://storage.googleapis.com/mlab-sandbox-iqb-us-central1"
"""Address at which M-Lab publishes the files; no account is needed."""

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.csv"
"""SHA-256 of 2009-01 to 2026-01, from M-Lab's manifest (m-lab/iqb, commit dbd7401d4d17)."""

SIZE_LIMIT = 4_000_000
"""Largest accepted file, in bytes; October 2025 has 58,527."""

TIMEOUT_S = 60.0

MONTH = re.compile(r"\d\d\d\d-(0[1-9]|1[0-2])", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """Percentiles of a country's tests in one month, at PERCENTS; each rises."""

    code: str
    """ISO 3166-1 alpha-2."""
    tests: int
    bandwidth_mbps: tuple[float, ...]
    """Mean download rate of a test."""
    rtt_ms: tuple[float, ...]
    """Least round trip of a test, to M-Lab's nearest server."""
    loss: tuple[float, ...]
    """Share of bytes sent again; the test itself caused some of it by filling the queue."""

    @property
    def is_possible(self) -> bool:
        """False if a value is that of no network: no test, a rate or round trip of 0, a loss above 1."""
        return (
            self.tests > 0
            and self.bandwidth_mbps[0] > 0
            and self.rtt_ms[0] > 0
            and 0 <= self.loss[0] <= self.loss[-1] <= 1
        )


class Month(NamedTuple):
    """The countries of a month."""

    countries: list[Country]
    left_out: list[str]
    """Codes of countries with a value that no network has."""


def read_countries(content: bytes) -> Month:
    """Read a file, with its labels of latency and loss put right; PopulationError."""
    try:
        rows = pq.read_table(pa.BufferReader(content)).to_pylist()
        countries = [_country(row) for row in rows]
    except (pa.ArrowException, KeyError, TypeError, ValueError, OverflowError, OSError) as exc:
        raise PopulationError("this is no IQB file of downloads by country") from exc
    month = Month(
        [country for country in countries if country.is_possible],
        sorted(country.code for country in countries if not country.is_possible),
    )
    if not month.countries:
        raise PopulationError("the IQB file has no country whose values can be")
    return month


def _country(row: Mapping[str, object]) -> Country:
    tests = int(row["sample_count"])  # type: ignore[call-overload]  # TypeError is read_countries' to translate
    return Country(
        code=str(row["country_code"]),
        tests=tests,
        bandwidth_mbps=_rising(row, "download", PERCENTS),
        rtt_ms=_rising(row, "latency", [100 - percent for percent in PERCENTS]),
        loss=_rising(row, "loss", [100 - percent for percent in PERCENTS]),
    )


def _rising(row: Mapping[str, object], name: str, labels: list[int] | tuple[int, ...]) -> tuple[float, ...]:
    values = tuple(float(row[f"{name}_p{label}"]) for label in labels)  # type: ignore[arg-type]
    if not all(map(math.isfinite, values)) or any(
        before > after for before, after in itertools.pairwise(values)
    ):
        raise PopulationError(
            f"the percentiles of {name} in {row['country_code']} are not in order: "
            "M-Lab may have changed the labels"
        )
    return values


def read_manifest(path: Path = MANIFEST) -> dict[str, str]:
    """Return the SHA-256 by month; from our list or M-Lab's own manifest.json[.gz]."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        if path.suffix == ".csv":
            return {row["month"]: row["sha256"] for row in csv.DictReader(text.splitlines())}
        files = json.loads(text)["files"]
        pattern = re.compile(
            r"cache/v1/(\d{4})(\d\d)01T000000Z/\d{8}T000000Z/downloads_by_country/data\.parquet"
        )
        return {
            f"{match[1]}-{match[2]}": str(facts["sha256"])
            for name, facts in files.items()
            if (match := pattern.fullmatch(name))
        }
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise PopulationError(f"{path} is no manifest of M-Lab's IQB files: {exc}") from exc


def find_month(month: str, *, source: str | None = None, manifest: Path = MANIFEST) -> bytes:
    """Return the file of a month, YYYY-MM: from a folder or URL, by default bundled or in M-Lab's bucket.

    In a folder, it is called 202510_downloads_by_country.parquet, or as in the bucket. PopulationError if it
    is missing, or not the manifest's.
    """
    if not MONTH.fullmatch(month):
        raise PopulationError(f"{month!r} is no month such as 2025-10")
    months = read_manifest(manifest)
    if not (checksum := months.get(month)):
        raise PopulationError(
            f"M-Lab's manifest has no file of {month}, but those of {min(months, default='no month')} to "
            f"{max(months, default='none')}; later months need a newer manifest.json (--manifest)"
        )
    bundled = HERE / f"downloads_{month}.parquet"
    if source is None and bundled.exists():
        content = bundled.read_bytes()
    elif source is None or source.startswith(("https://", "http://")):
        content = _download(f"{source or BUCKET}/{place(month)}")
    else:
        content = _read(Path(source), month)
    if hashlib.sha256(content).hexdigest() != checksum:
        raise PopulationError(
            f"the IQB file of {month} is not the one in M-Lab's manifest: its SHA-256 differs"
        )
    return content


def place(month: str) -> str:
    """Return the path of a month's file in M-Lab's bucket.

    >>> place("2025-12")
    'cache/v1/20251201T000000Z/20260101T000000Z/downloads_by_country/data.parquet'
    """
    year, number = int(month[:4]), int(month[5:])
    after = f"{year + number // 12}{number % 12 + 1:02}"
    return f"cache/v1/{year}{number:02}01T000000Z/{after}01T000000Z/downloads_by_country/data.parquet"


def _read(folder: Path, month: str) -> bytes:
    names = (f"{month.replace('-', '')}_downloads_by_country.parquet", place(month))
    for name in names:
        if (folder / name).is_file():
            return (folder / name).read_bytes()
    raise PopulationError(f"{folder} has neither {' nor '.join(names)}")


def _download(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "firstflight"})  # noqa: S310  # the operator's own
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            content: bytes = response.read(SIZE_LIMIT + 1)
    except (OSError, http.client.HTTPException) as exc:
        raise PopulationError(f"the IQB file cannot be fetched ({exc}): {url}") from exc
    if len(content) > SIZE_LIMIT:
        raise PopulationError(f"the IQB file is larger than {SIZE_LIMIT:,} bytes: {url}")
    return content
