"""Benchmarks say which of their bounds are missed, and the document keeps
sections that were not measured again."""

from typing import Any

from benchmarks.crawl_figures import find_misses
from benchmarks.document import document
from benchmarks.service.load import missed as missed_by_service


def crawl(ratio: float, speed: float, copied: float) -> dict[str, Any]:
    names = ("recording_cpu_ratio", "speed_ratio", "copy_ratio")
    return {name: {"median": value} for name, value in zip(names, (ratio, speed, copied), strict=True)}


def test_the_crawl_misses_no_bound_that_holds_and_every_one_that_does_not() -> None:
    assert find_misses(crawl(1.2, 0.9, 0.8)) == []
    assert len(find_misses(crawl(1.6, 0.8, 0.4))) == 3


def service(*, refused: int = 0, **figures: object) -> dict[str, Any]:
    return {
        "cached_answers_per_second": 2000.0,
        "cached_p99_ms": 90.0,
        "cold_p99_ms": 800.0,
        "peak_mb": 250.0,
        "stream_ratio_datasette": 10.0,
        "stream_peak_mb": 150.0,
        "coverage_scan_ratio": 1.1,
        "coverage_seconds": 1.21,
        **{name: {"median": 2.0} for name in ("stratum_ms", "kept_ms", "history_ms")},
        "service": {"cached": {"refused": 0, "failed": 0}, "cold": {"refused": refused, "failed": 0}},
        **figures,
    }


def test_a_missed_bound_of_the_service_is_named() -> None:
    assert missed_by_service(service()) == []
    assert missed_by_service(service(cached_answers_per_second=1499, peak_mb=401)) == [
        "fewer than 1500 cached answers a second",
        "more than 400 MB",
    ]
    assert missed_by_service(service(coverage_scan_ratio=1.3, history_ms={"median": 51.0})) == [
        "coverage above 1.2 times a bare scan",
        "a site's history above 50 ms",
    ]
    assert missed_by_service(service(refused=1)) == ["answers other than 200 or 304"]


def test_a_benchmark_without_results_keeps_its_section() -> None:
    before = "# Performance\n\n## The replay\n\nQuick.\n\n## The time to an answer\n\nShort.\n"
    assert document({}, before).endswith(before.partition("\n\n")[2])
