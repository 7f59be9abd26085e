"""The service counts what it answers, by route."""

from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry

from api.app import create_app
from tests.api.conftest import serving


def test_answers_are_counted_by_route_for_any_number_of_paths(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    client = TestClient(create_app(tmp_path, tmp_path, metrics=registry))
    for path in ("/v1/crawls", "/v1/crawls", "/releases/2026-11", "/releases/2026-12"):
        client.get(path)
    for number in range(20):
        client.get(f"/nowhere/{number}")
    routes = {
        (s.labels["route"], s.labels["status"]): s.value
        for metric in registry.collect()
        for s in metric.samples
        if s.name == "firstflight_api_answers_total"
    }
    assert routes[("/v1/crawls", "200")] == 2
    assert routes[("none", "404")] == 20
    assert routes[("/releases/{crawl}", "404")] == 2
    assert len(routes) == 3
    assert registry.get_sample_value("firstflight_api_seconds_count", {"route": "/v1/crawls"}) == 2


def test_damaged_folders_are_counted_by_kind(data_dir: Path) -> None:
    registry = CollectorRegistry()
    with serving(data_dir / "releases", metrics=registry):

        def damaged(kind: str) -> float | None:
            return registry.get_sample_value("firstflight_api_damaged", {"kind": kind})

        assert (damaged("release"), damaged("report")) == (0, 0)
        (data_dir / "reports/2026/v1/summary.txt").write_text("another\n")
        assert (damaged("release"), damaged("report")) == (0, 1)
