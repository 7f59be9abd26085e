"""Prometheus' and Grafana's files of the profile `metrics`, by Prometheus' own promtool."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "docker/grafana/firstflight.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def promtool(*arguments: str) -> str:
    run = subprocess.run(["promtool", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.process
def test_the_configuration_and_its_rules_are_valid() -> None:
    assert "rules found" in promtool("check", "config", "docker/prometheus.yml")


@pytest.mark.process
def test_alerts_fire_when_they_should_and_not_otherwise() -> None:
    promtool("test", "rules", "tests/compose/alerts.yml")


@pytest.mark.process
def test_the_expressions_of_the_dashboard_are_valid(tmp_path: Path) -> None:
    expressions = [target["expr"] for panel in PANELS for target in panel["targets"]]
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(expressions)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(file))


def test_panels_have_titles_and_places_of_their_own_and_ask_the_chosen_source() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert panel["title"]
        assert not taken & cells, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    sources = {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]}
    assert sources == {"${datasource}"}
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = {name for name in re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD)) if not name.startswith("__")}
    assert used == variables


def test_grafana_finds_the_dashboard_and_prometheus_where_the_stack_mounts_them() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    mounted = dict(volume.split(":")[:2] for volume in services["grafana"]["volumes"])
    assert all((ROOT / source).is_file() for source in mounted)
    (provider,) = yaml.safe_load((ROOT / "docker/grafana/dashboards.yml").read_text())["providers"]
    assert mounted["./docker/grafana/firstflight.json"] == f"{provider['options']['path']}/firstflight.json"
    (source,) = yaml.safe_load((ROOT / "docker/grafana/datasource.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    scraped = yaml.safe_load((ROOT / "docker/prometheus.yml").read_text())["scrape_configs"]
    targets = {target for job in scraped for static in job["static_configs"] for target in static["targets"]}
    assert targets == {"metrics:9750", "api:9751"}
