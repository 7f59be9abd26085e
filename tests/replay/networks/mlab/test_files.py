"""M-Lab's files: two real months, labels put right,
and everything that is not the file of the manifest refused."""

import functools
import gzip
import http.server
import io
import json
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from replay.networks.mlab.files import find_month, place, read_countries, read_manifest
from replay.networks.population_csv import PopulationError

OCTOBER_2024 = Path(__file__).with_name("downloads_2024-10.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(OCTOBER_2024, tmp_path / "202410_downloads_by_country.parquet")
    return tmp_path


def test_the_bundled_month_is_the_one_that_mlab_published() -> None:
    countries, left_out = read_countries(find_month("2025-10"))
    assert left_out == []
    assert len(countries) == 238
    assert sum(country.tests for country in countries) == 112_945_393


def test_a_month_comes_from_a_folder(folder: Path) -> None:
    countries = read_countries(find_month("2024-10", source=str(folder))).countries
    assert len(countries) == 236
    assert round(sum(country.tests for country in countries) / 1e6, 1) == 141.2


def test_the_labels_of_latency_and_loss_are_put_right() -> None:
    content = find_month("2025-10")
    row = next(row for row in pq.read_table(io.BytesIO(content)).to_pylist() if row["country_code"] == "US")
    country = next(country for country in read_countries(content).countries if country.code == "US")
    assert row["latency_p5"] == 71.492  # M-Lab's label; it is the 95th percentile
    assert (country.rtt_ms[1], country.rtt_ms[4], country.rtt_ms[7]) == (0.809, 14.967, 71.492)
    assert (country.loss[0], country.loss[8]) == (0.0, row["loss_p1"])
    assert country.bandwidth_mbps[1] == row["download_p5"]
    for percentiles in (country.bandwidth_mbps, country.rtt_ms, country.loss):
        assert list(percentiles) == sorted(percentiles)


def changed(**columns: Any) -> bytes:
    """October 2024's first country with other values."""
    row = pq.read_table(OCTOBER_2024).to_pylist()[0] | columns
    file = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist([{name: value for name, value in row.items() if value is not None}]), file
    )
    return file.getvalue()


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"latency_p5": 0.001}, "percentiles of latency in AD are not in order: M-Lab may have changed"),
        ({"download_p50": float("nan")}, "percentiles of download in AD are not in order"),
        ({"download_p1": 0.0}, "no country whose values can be"),
        ({"sample_count": 0}, "no country whose values can be"),
        ({"loss_p25": None}, "no IQB file"),
        ({"loss_p25": "much"}, "no IQB file"),
    ],
)
def test_values_that_cannot_be_are_refused(columns: dict[str, Any], why: str) -> None:
    with pytest.raises(PopulationError, match=why):
        read_countries(changed(**columns))


@pytest.mark.parametrize("columns", [{"download_p1": 0.0}, {"latency_p99": 0.0}, {"loss_p1": 1.5}])
def test_one_country_with_a_value_of_no_network_is_left_out_and_named(columns: dict[str, Any]) -> None:
    first, *others = pq.read_table(OCTOBER_2024).to_pylist()
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([first | columns, *others]), file)
    countries, left_out = read_countries(file.getvalue())
    assert (len(countries), left_out) == (235, ["AD"])


def test_what_is_no_parquet_file_is_refused() -> None:
    with pytest.raises(PopulationError, match="no IQB file"):
        read_countries(b"PAR1 or not")


def test_a_file_that_is_not_the_manifests_is_refused(folder: Path) -> None:
    file = folder / "202410_downloads_by_country.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(PopulationError, match="its SHA-256 differs"):
        find_month("2024-10", source=str(folder))


@pytest.mark.parametrize(
    ("month", "why"),
    [
        ("2024-13", "no month such as"),
        ("2031-01", "manifest has no file of 2031-01"),
        ("2023-10", "has neither 202310_downloads_by_country.parquet nor cache/v1/20231001T000000Z/"),
    ],
)
def test_a_month_that_is_not_there_is_one_line(folder: Path, month: str, why: str) -> None:
    with pytest.raises(PopulationError, match=re.escape(why)):
        find_month(month, source=str(folder))


def test_the_bundled_manifest_has_205_months() -> None:
    months = sorted(read_manifest())
    assert (len(months), months[0], months[-1]) == (205, "2009-01", "2026-01")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_mlabs_own_manifest_is_read(folder: Path, suffix: str) -> None:
    known = read_manifest()["2024-10"]
    files = {place("2024-10"): {"sha256": known, "url": "x"}, place("2024-11").replace("data.", "stats."): {}}
    content = json.dumps({"v": 0, "files": files}).encode()
    path = folder / f"manifest.json{suffix}"
    path.write_bytes(gzip.compress(content) if suffix else content)
    assert read_manifest(path) == {"2024-10": known}
    assert find_month("2024-10", source=str(folder), manifest=path)


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"files": 3}', b"\xff", b'{"files": {"x": 1}'])
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(PopulationError, match="is no manifest"):
        read_manifest(tmp_path / "manifest.json")


def test_a_month_comes_from_a_url(tmp_path: Path) -> None:
    file = tmp_path / place("2024-10")
    file.parent.mkdir(parents=True)
    shutil.copy(OCTOBER_2024, file)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert find_month("2024-10", source=base) == OCTOBER_2024.read_bytes()
        with pytest.raises(PopulationError, match="cannot be fetched"):
            find_month("2024-09", source=base)
        server.shutdown()


def test_a_month_in_which_one_country_had_a_test_of_no_rate_is_read_without_it() -> None:
    content = (Path(__file__).parent / "given" / "201501_downloads_by_country.parquet").read_bytes()
    countries, left_out = read_countries(content)
    assert (len(countries), left_out) == (237, ["SJ"])
    assert next(country.tests for country in countries if country.code == "DE") == 6_583_818
