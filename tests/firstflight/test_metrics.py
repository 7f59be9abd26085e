"""Metrics are what the database and the data folder hold; what is unknown has no sample."""

import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector
from sqlalchemy import Engine, create_engine

from api.app import create_app
from crawler.campaign.seal import seal
from crawler.worker import claims
from firstflight.metrics import SITES, Crawls, Data, Gate, Replays
from firstflight.settings import Settings
from storage.progress import write_progress
from tests.api.conftest import running, sealed
from tests.factories.made_up_visits import BEGAN, observation, plan_crawl

ROOT = Path(__file__).parents[2]


def registered(collector: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


def test_of_a_crawl_the_counts_are_those_of_its_rows(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=5)
    for outcome in ("ok", "ok", "http_error"):
        claim = claims.claim_site(database_18, crawl, owner="me")
        assert claim is not None
        claims.store_visit(database_18, crawl, claim, observation(outcome))
    assert claims.claim_site(database_18, crawl, owner="me") is not None
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


def test_the_crawl_that_was_sealed_last_keeps_its_metrics(database_18: Engine) -> None:
    for month in ("2026-10", "2026-11"):
        crawl = plan_crawl(database_18, sites=1, month=month)
        claim = claims.claim_site(database_18, crawl, owner="me")
        assert claim is not None
        claims.store_visit(database_18, crawl, claim, observation("ok"))
        seal(database_18, crawl)
    registry = registered(Crawls(database_18))
    for _ in range(2):
        labelled = [sample for metric in registry.collect() for sample in metric.samples if sample.labels]
        (name,) = {sample.labels["crawl"] for sample in labelled}
        assert name.startswith("2026-11.")
        assert registry.get_sample_value("firstflight_crawl_visits", {"crawl": name}) == 1
        at = registry.get_sample_value("firstflight_crawl_sealed_timestamp_seconds", {"crawl": name})
        assert at is not None
        planned_at = registry.get_sample_value("firstflight_newest_crawl_timestamp_seconds")
        assert 0 < (planned_at or 0) <= at


def test_without_a_crawl_the_newest_is_of_no_time(database_18: Engine) -> None:
    registry = registered(Crawls(database_18))
    assert registry.get_sample_value("firstflight_newest_crawl_timestamp_seconds") == 0
    assert (registry.get_sample_value("firstflight_database_size_bytes") or 0) > 0


def test_the_gate_is_told_of_from_what_crawlers_wrote(tmp_path: Path) -> None:
    progress = running(BEGAN)
    write_progress(tmp_path, progress)
    write_progress(tmp_path, sealed(progress, ("too few",)))
    registry = registered(Gate(tmp_path))
    labels = {"crawl": progress.crawl, "bound": "visited"}
    assert registry.get_sample_value("firstflight_crawl_gate_share", labels) == 0.25
    failures = {
        sample.labels["crawl"]: sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name.endswith("_gate_failures")
    }
    assert failures == {"2026-11.desktop.local.tcp.web": 1}


def test_of_the_data_folder_there_are_its_disk_and_the_newest_of_each_kind(tmp_path: Path) -> None:
    settings = made_up_settings(tmp_path)
    settings.backups.mkdir()
    for day in (1, 2):
        copy = settings.backups / f"{day}.dump"
        copy.touch()
        os.utime(copy, (86400 * day, 86400 * day))
    registry = registered(Data(settings))
    values = [
        registry.get_sample_value(f"firstflight_newest_{what}_timestamp_seconds")
        for what in ("release", "report", "backup")
    ]
    assert values == [0, 0, 172800]
    free, size = (registry.get_sample_value(f"firstflight_disk_{name}_bytes") for name in ("free", "size"))
    assert 0 < (free or 0) < (size or 0)


def made_up_settings(folder: Path) -> Settings:
    return Settings(data_dir=folder, cache_dir=folder, database_url=None, chromium=folder)


def test_a_database_that_is_away_is_a_value_and_no_error(tmp_path: Path) -> None:
    away = create_engine(f"postgresql+psycopg://nobody@/none?host={tmp_path}")
    assert registered(Crawls(away)).get_sample_value("firstflight_database_up") == 0


def test_of_a_replay_there_are_its_cells(tmp_path: Path) -> None:
    states = pa.table({"state": ["done", "done", "failed"]})
    for stage, table in {
        "whole/stage-01": states,
        "whole/arm-bbr": states,
        "torn/stage-01": states,
        "strange/stage-01": pa.table({"page": ["a.test"]}),
    }.items():
        (tmp_path / stage).mkdir(parents=True)
        pq.write_table(table, tmp_path / stage / "cells.parquet")
    os.truncate(tmp_path / "torn" / "stage-01" / "cells.parquet", 20)
    registry = registered(Replays(tmp_path))
    assert registry.get_sample_value("firstflight_replay_cells", {"replay": "whole", "state": "done"}) == 4
    assert {s.labels["replay"] for metric in registry.collect() for s in metric.samples} == {"whole"}


@pytest.mark.parametrize(
    "file", ["docker/alerts.yml", "docker/grafana/firstflight.json", "docs/operations.md"]
)
def test_what_is_shipped_speaks_of_metrics_that_there_are(
    database_18: Engine, tmp_path: Path, file: str
) -> None:
    registry = registered(Crawls(database_18))
    for collector in (Gate(tmp_path), Data(made_up_settings(tmp_path)), Replays(tmp_path)):
        registry.register(collector)
    with TestClient(create_app(tmp_path, tmp_path, metrics=registry)) as client:
        client.get("/")
    names = {metric.name for metric in registry.collect()}
    text = (ROOT / file).read_text(encoding="utf-8")
    spoken = {re.sub("_(total|bucket)$", "", name) for name in re.findall(r"\bfirstflight_\w+", text)}
    assert len(spoken) > 6
    assert spoken <= names
