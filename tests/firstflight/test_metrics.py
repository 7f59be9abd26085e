"""Metrics are what the database and the data folder hold; what is unknown has no sample."""

import json
import re
from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine, create_engine

from api.app import create_app
from crawler.campaign.seal import seal
from crawler.worker import claims
from firstflight.metrics import SITES, Crawls, Replays
from tests.factories.made_up_visits import observation, planned


def registered(collector: Crawls | Replays) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


def test_of_a_crawl_the_counts_are_those_of_its_rows(database_18: Engine) -> None:
    crawl = planned(database_18, sites=5)
    for outcome in ("ok", "ok", "http_error"):
        claim = claims.claim(database_18, crawl, owner="me")
        assert claim is not None
        claims.store_visit(database_18, crawl, claim, observation(outcome))
    assert claims.claim(database_18, crawl, owner="me") is not None
    registry = registered(Crawls(database_18))
    (name,) = {
        sample.labels["crawl"]
        for metric in registry.collect()
        for sample in metric.samples
        if "crawl" in sample.labels
    }

    def value(metric: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"firstflight_crawl_{metric}", {"crawl": name, **labels})

    assert name.startswith("2026-11.")
    assert {state: value("sites", state=state) for state in SITES} == {
        "done": 3, "claimed": 1, "expired": 0, "postponed": 0, "waiting": 1,
    }  # fmt: skip
    assert (value("outcomes", outcome="ok"), value("outcomes", outcome="http_error")) == (2, 1)
    assert (value("visits"), value("responses"), value("received_bytes")) == (3, 6, 3000)
    assert (value("coverage_min"), value("log_lines_lost")) == (0.999, None)
    assert value("network_down_visits") == 0


def test_a_sealed_crawl_is_told_of_no_more(database_18: Engine) -> None:
    crawl = planned(database_18, sites=1)
    claim = claims.claim(database_18, crawl, owner="me")
    assert claim is not None
    claims.store_visit(database_18, crawl, claim, observation("ok"))
    seal(database_18, crawl)
    registry = registered(Crawls(database_18))
    assert registry.get_sample_value("firstflight_database_up") == 1
    assert not any("crawl" in sample.labels for metric in registry.collect() for sample in metric.samples)


def test_a_database_that_is_away_is_a_value_and_no_error(tmp_path: Path) -> None:
    away = create_engine(f"postgresql+psycopg://nobody@/none?host={tmp_path}")
    assert registered(Crawls(away)).get_sample_value("firstflight_database_up") == 0


def test_of_a_replay_there_are_its_cells_and_its_speed(tmp_path: Path) -> None:
    for name, text in {
        "whole": json.dumps(
            {
                "cells": {"done": 9, "failed": 1},
                "virtual_s": 600,
                "wall_s": 2,
                "guests": [{"wall_s": 1.0}, {"wall_s": 2.0}],
            }
        ),
        "torn": '{"cells": {"done": 9',
        "strange": '{"cells": [], "virtual_s": 1, "wall_s": 0}',
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "replay.json").write_text(text)
    registry = registered(Replays(tmp_path))
    assert registry.get_sample_value("firstflight_replay_cells", {"crawl": "whole", "state": "done"}) == 9
    assert registry.get_sample_value("firstflight_replay_times_real_time", {"crawl": "whole"}) == 300
    assert registry.get_sample_value("firstflight_replay_cells_per_guest_second", {"crawl": "whole"}) == 3
    assert {s.labels["crawl"] for metric in registry.collect() for s in metric.samples} == {"whole"}


def test_the_alerts_that_are_shipped_speak_of_metrics_that_there_are(
    database_18: Engine, tmp_path: Path
) -> None:
    registry = registered(Crawls(database_18))
    registry.register(Replays(tmp_path))
    with TestClient(create_app(tmp_path, tmp_path, metrics=registry)) as client:
        client.get("/")
    there = {metric.name for metric in registry.collect()}
    alerts = (Path(__file__).parents[2] / "docker/alerts.yml").read_text()
    spoken = {name.removesuffix("_total") for name in re.findall(r"\bfirstflight_\w+", alerts)}
    assert len(spoken) > 6
    assert spoken <= there
