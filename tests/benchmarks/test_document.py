from __future__ import annotations

from typing import Any

from benchmarks.crawl import summary
from benchmarks.crawl_figures import floor, missed
from benchmarks.document import document
from benchmarks.service.load import missed as missed_by_service

BEFORE = {
    "commit": "0123456789abcdef",
    "measured_at": "2026-11-21T12:00:00+00:00",
    "machine": {"cpu": "CPU", "cpus": 2, "kernel": "6.1", "load_before": 0.25},
}


def spread(value: float) -> dict[str, float]:
    return {"median": value, "min": value - 0.1, "max": value + 0.1}


def crawl(ratio: float = 1.2, speed: float = 0.9, copied: float = 0.8) -> dict[str, Any]:
    sample = {"browsers": 3, "pages": 10, "requests": 7, "cpu_s": 4.0, "database_cpu_s": 0.1, "run": 3}
    samples = [
        sample | {"tool": tool, "wall_s": 10 / pace} for tool, pace in (("bare", 9.0), ("firstflight", 2.0))
    ]
    return BEFORE | {
        "pages": 10,
        "tried": [2, 3],
        "mode": "h2",
        "browser": "/shell",
        "tools": summary(samples, cpus=2),
        "memory": {key: {"a_browser_mb": 150, "others_mb": 90} for key in ("bare", "firstflight")},
        "samples": samples,
        "recording_cpu_ratio": spread(ratio),
        "log_cpu_ratio": spread(1.4),
        "log_speed_ratio": spread(0.8),
        "speed_ratio": spread(speed),
        "copy_ratio": spread(copied),
        "copy_rows_per_second": spread(150_000),
        "copy_samples": [{"rows": 200_000}],
    }


def test_the_document_names_commit_machine_date_and_figures() -> None:
    written = document({"crawl": crawl()})
    for part in ("`0123456789ab`", "2 cores of CPU", "2026-11-21", "load before it began 0.2"):
        assert part in written
    assert (
        "| firstflight, rows in PostgreSQL | 3 | 400 (400 to 400) | 2.00 (2.00 to 2.00) | 40% | 150 | 90 |"
        in written
    )
    assert "**1.20 (1.10 to 1.30) times**" in written
    assert "The bound is 1.25 times: held." in written
    assert "takes **1.40 (1.30 to 1.50) times** the CPU of Playwright alone" in written
    assert "The bound is 0.85 times: held." in written
    assert "| firstflight | 150,000 (150,000 to 150,000) | 0.80 (0.70 to 0.90) |" in written


def test_a_benchmark_without_results_keeps_its_section() -> None:
    assert "The replay" not in document({"crawl": crawl()})
    before = document({"crawl": crawl(), "replay": replay()})
    after = document({"crawl": crawl(ratio=1.1)}, before)
    assert "**1.10 (1.00 to 1.20) times**" in after
    assert after.partition("## The replay")[2] == before.partition("## The replay")[2]


def test_endurance_has_outcomes_leftovers_and_memory() -> None:
    facts = BEFORE | {
        "pages": 10_000,
        "crawlers": 3,
        "browsers": 1,
        "kills": 20,
        "outcomes": {"ok": 10_000},
        "tried_again": {"crash": 12},
        "left": {"processes": 0, "files": 0},
        "pages_per_second": 1.0,
        "memory": {"crawlers": {"third_quarter_mb": 300.0, "last_quarter_mb": 301.0}},
    }
    written = document({"endurance": facts})
    assert "a driver is replaced after 10 browsers or above 512 MB of its own" in written
    assert "at most 45 objects" in written
    for part in ("10,000 ok;", "12 crash.", "0 processes and 0 files", "12 days", "| crawlers | 300 | 301 |"):
        assert part in written


def replay() -> dict[str, Any]:
    grid = {"cells": 60, "virtual_s": 7000.0, "payload_mb": 600.0}
    side = {"wall_s": 2.0, "cpu_s": 1.0, "times_real_time": 0.5}
    opinion = {"cells": 14, "median_difference": 0.004, "virtual": side, "real": side}
    page = {"site": "a.test", "protocol": "H2", "objects": 70, "origins": 8, "megabytes": 1.6}
    samples = {"pages": [page], "grids": [grid], "boots": [{"steps": [{"step": "ready", "wall_s": 0.5}]}]}
    return BEFORE | {
        "cs244_times_real_time": 480.4,
        "cs244_times_its_cpu": 900.0,
        "transfer_cpu_ms": 2.5,
        "page_load_cpu_ms_by_profile": {"slow": 44.0},
        "two_guest_speedup": 1.9,
        "megabyte_cpu_ms": 2.5,
        "request_cpu_ms": 0.4,
        "boot_cpu_s": 0.5,
        "samples": samples | {"second_opinion": opinion},
    }


def test_the_replays_section_has_bounds_boot_and_the_second_kernel_or_why_it_is_missing() -> None:
    facts = replay()
    written = document({"replay": facts})
    for part in (
        "(bound: 300) | 480 |",
        "over slow (bound: 60) | 44 |",
        "| ready | 500 |",
        "is +0.4%",
        "a.test (H2, 70",
    ):
        assert part in written
    facts["samples"]["second_opinion"] = {"missing": "no package"}
    assert "Not compared with a second kernel: no package." in document({"replay": facts})


def test_bounds_that_hold_are_not_missed() -> None:
    assert missed(crawl()) == []


def test_every_bound_can_be_missed() -> None:
    assert len(missed(crawl(ratio=1.6, speed=0.8, copied=0.4))) == 3


def service(**figures: float) -> dict[str, Any]:
    kind = {
        "answers": 120_000, "answers_per_second": 2000.0, "wall_s": 60.0, "p50_ms": 20.0, "p99_ms": 90.0, "refused": 0, "failed": 0,
    }  # fmt: skip
    few = {"median": 2.0, "max": 4.0}
    return BEFORE | {
        "clients": 200,
        "seconds": 60,
        "cached_answers_per_second": 2000.0,
        "cached_p99_ms": 90.0,
        "cold_p99_ms": 800.0,
        "peak_mb": 250.0,
        "stream_rows": 1_000_000,
        "stream_peer_rows": 200_000,
        "stream_rows_per_second": {"csv": 200_000, "arrow": 500_000, "datasette": 20_000},
        "stream_ratio_datasette": 10.0,
        "stream_peak_mb": 150.0,
        "bytes_per_row": 24.5,
        "year_responses_asked": 50_000_000,
        "year_releases": 12,
        "year_responses": 50_000_123,
        "year_mb": 1234.0,
        "year_runs": 3,
        "coverage_scan_ratio": 1.1,
        "coverage_seconds": 1.1,
        "coverage_scan_by_segment_ratio": 1.4,
        "coverage_views_seconds": 1.0,
        "coverage_bare_by_segment_seconds": 0.7,
        "coverage_bare_seconds": 1.0,
        "coverage_bare_known_seconds": 0.9,
        "coverage_distribution_seconds": 0.5,
        "prepared_s": 70.0,
        "prepared_mb": 880.0,
        "prepared_peak_mb": 550.0,
        "stratum_ms": few,
        "stratum_from_disk_ms": few,
        "stratum_of_held_items_ms": few,
        "kept_ms": few,
        "history_ms": few,
        "history_from_disk_ms": few,
        "service": {"cached": kind, "cold": kind | {"p99_ms": 800.0}, "peak_mb": 250.0, "views": ["/"]},
        "datasette": {"version": "0.65", "cached": kind | {"failed": 7}, "peak_mb": 99.0},
        **figures,
    }


def test_the_service_is_compared_with_datasette() -> None:
    written = document({"service": service()})
    assert "| cached views | 2,000 | 20 | 90 | 0 | 250 |" in written
    assert "| Datasette 0.65, page of a table | 2,000 | 20 | 90 | 7 | 99 |" in written
    assert "(24.5 bytes a row in the release's Parquet)" in written
    assert "1,234 MB in all, 24.7 bytes a response" in written
    assert "All bounds are met." in written
    assert "Missed: more than 400 MB." in document({"service": service(peak_mb=412.0)})


def test_a_missed_bound_of_the_service_is_stated() -> None:
    assert missed_by_service(service()) == []
    assert missed_by_service(service(cached_answers_per_second=1499, peak_mb=401)) == [
        "fewer than 1500 cached answers a second",
        "more than 400 MB",
    ]
    refused = service()
    refused["service"]["cold"]["refused"] = 1
    assert missed_by_service(refused) == ["answers other than 200 or 304"]


def test_the_log_unread_is_named_as_the_floor_and_as_beyond_the_bound_only_where_it_is() -> None:
    plain = {"min": 1.0, "max": 2.0}
    for median, exceeds in ((1.46, True), (1.2, False)):
        said = floor({"median": median, **plain}, {"median": 0.9, **plain})
        assert "floor" in said
        assert ("exceeds the bound of 1.25" in said) is exceeds
