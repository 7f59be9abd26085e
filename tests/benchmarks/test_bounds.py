"""Benchmarks say which of their bounds are missed, and the document keeps
sections that were not measured again."""

import dataclasses
from typing import Any

from benchmarks.crawl_figures import Copy, Crawled, Sample, find_misses, section
from benchmarks.document import document
from benchmarks.service import attack
from benchmarks.service.load import missed as missed_by_service


def crawl(cpu_ratio: float, speed: float, copied: float) -> Crawled:
    def sample(tool: str, cpu_s: float, wall_s: float) -> Sample:
        return Sample(
            tool=tool, browsers=2, pages=10, wall_s=wall_s, cpu_s=cpu_s, database_cpu_s=0.1, browser_mb=150.0,
            other_mb=200.0,
        )  # fmt: skip

    samples = [
        sample("bare", 4.0, 5.0),
        sample("firstflight", 4.0 * cpu_ratio, 5.0),
        sample("puppeteer", 4.0, 5.0 * speed),
    ]
    return Crawled(
        pages=10, mode="h2", browser="chromium", cpus=2, tried=[2], trials=samples, samples=samples,
        copies=[Copy(rows=9, bytes=99, ours_s=1.0, raw_s=copied)],
    )  # fmt: skip


def test_the_crawls_section_has_every_tool_and_the_ratios_of_interleaved_runs() -> None:
    facts = {"measured_at": "2026-11-26", "commit": "c0ffee", "machine": {"cpus": 2}}
    text = section(facts | dataclasses.asdict(crawl(1.2, 0.9, 0.8)))
    assert "nothing recorded | 2 | 400 (400 to 400) | 2.00 (2.00 to 2.00) | 40% | 150 | 200 |" in text
    assert "| firstflight, rows in PostgreSQL | 2 | 480 (480 to 480) |" in text
    assert "cost **1.20 (1.20 to 1.20) times** the CPU of Playwright alone; 10 ms a page" in text
    assert "visits **0.90 (0.90 to 0.90) times** as many" in text
    assert "| firstflight | 9 (9 to 9) | 0.80 (0.80 to 0.80) |" in text


def test_the_crawl_misses_no_bound_that_holds_and_every_one_that_does_not() -> None:
    assert find_misses(crawl(1.2, 0.9, 0.8)) == []
    assert len(find_misses(crawl(1.6, 0.8, 0.4))) == 3


def test_an_attack_under_which_another_client_waits_too_long_is_a_miss() -> None:
    waits = {"sent_s": 0.1, "median_s": 0.1, "max_s": attack.MOST_S}
    attacks = {kind or "none": waits for kind in attack.KINDS.values()}
    assert attack.find_misses({"attacks": attacks}) == []
    attacks["abandoned"] = waits | {"max_s": attack.MOST_S + 0.1}
    (miss,) = attack.find_misses({"attacks": attacks})
    assert "abandoned" in miss
    facts = {"measured_at": "2026-11-26", "commit": "c0ffee", "machine": {"cpus": 2}}
    text = attack.section(facts | {"attacks": attacks, "responses": 10_000_060, "questions": 250})
    assert "| the connections are closed at once | 100 | 2,100 |" in text


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
