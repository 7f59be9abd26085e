"""docker-compose.yml as it is written; what containers make of it is tried by
tests/compose/try-hardening in scripts/test-compose."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
STACK = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = STACK["services"]
STORES = {"postgres", "redis"}
TASKS = {"airflow-scheduler", "worker"}
PUBLISHED = {name for name, service in SERVICES.items() if "ports" in service}

each_service = pytest.mark.parametrize("name", SERVICES)


def networks(name: str) -> set[str]:
    return set(SERVICES[name]["networks"])


def environment(name: str) -> dict[str, str]:
    return {key: str(value) for key, value in (SERVICES[name].get("environment") or {}).items()}


@each_service
def test_a_log_is_rotated(name: str) -> None:
    assert SERVICES[name]["logging"] == {"driver": "local", "options": {"max-size": "10m", "max-file": "5"}}


@each_service
def test_the_number_of_processes_is_bounded(name: str) -> None:
    assert SERVICES[name]["pids_limit"]


@each_service
def test_memory_and_processors_are_bounded(name: str) -> None:
    assert SERVICES[name]["mem_limit"]
    assert "cpus" in SERVICES[name]


@each_service
def test_every_capability_is_dropped_and_none_can_be_gained(name: str) -> None:
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
    assert "privileged" not in SERVICES[name]


def test_capabilities_are_given_back_to_what_runs_tasks_and_to_the_tls_front_alone() -> None:
    given = {name: set(service["cap_add"]) for name, service in SERVICES.items() if "cap_add" in service}
    tasks = {"NET_ADMIN", "SETPCAP", "SETUID", "SETGID", "KILL"}
    assert given == {**dict.fromkeys(TASKS, tasks), "tls": {"NET_BIND_SERVICE"}}


@each_service
def test_the_root_is_read_only(name: str) -> None:
    assert SERVICES[name]["read_only"] is True


def test_stores_run_as_the_user_whose_secrets_they_read() -> None:
    assert {name: SERVICES[name]["user"] for name in STORES} == dict.fromkeys(STORES, "999:999")


@each_service
def test_no_secret_is_in_an_environment_an_argument_or_a_health_check(name: str) -> None:
    service = SERVICES[name]
    arguments = str([service.get(key) for key in ("command", "entrypoint", "healthcheck", "build")])
    assert not re.search(r"\$\{\w*(PASSWORD|SECRET|KEY|TOKEN)", arguments)
    for key, value in environment(name).items():
        if re.search(r"PASSWORD|SECRET|_KEY|TOKEN|CREDENTIALS|PASSFILE|WEBHOOK", key):
            assert key == "ROOT_ACCESS_KEY" or re.search(r"^(cat )?/run/secrets/[\w.]+$", value), key
        assert not re.search(r"://[^/@]*:[^/@]*@", value), key


@each_service
def test_a_secret_that_is_mounted_is_declared_and_belongs_to_the_service_s_user(name: str) -> None:
    user = {"postgres": "999", "redis": "999", "s3": "0"}.get(name, "10001")
    for secret in SERVICES[name].get("secrets", []):
        source = secret if isinstance(secret, str) else secret["source"]
        assert STACK["secrets"][source]["file"].endswith(f"/mounted/{user}/{source}")


def test_each_declared_secret_is_read_by_a_service() -> None:
    used = {
        one if isinstance(one, str) else one["source"]
        for service in SERVICES.values()
        for one in service.get("secrets", [])
    }
    assert used == STACK["secrets"].keys()


def test_the_data_network_has_no_way_out() -> None:
    assert STACK["networks"]["data"] == {"internal": True}
    assert STACK["networks"].keys() == {"data", "edge"}


def test_stores_are_on_the_data_network_alone_and_the_site_is_not_on_it() -> None:
    assert {frozenset(networks(name)) for name in STORES} == {frozenset({"data"})}
    assert networks("api") == networks("tls") == {"edge"}


@each_service
def test_whoever_has_a_published_port_crawls_or_sends_alerts_is_on_the_edge_and_nobody_else(
    name: str,
) -> None:
    assert ("edge" in networks(name)) == (name in PUBLISHED | TASKS | {"airflow-dag-processor"})


def test_ports_are_published_on_loopback_unless_the_operator_says_otherwise_but_for_the_tls_front() -> None:
    for name in PUBLISHED - {"tls"}:
        for port in SERVICES[name]["ports"]:
            assert re.match(r"\$\{\w+_ADDRESS:-127\.0\.0\.1:\d+\}:\d+$", port), port


def test_with_the_tls_front_the_site_publishes_its_metrics_alone() -> None:
    text = (ROOT / "docker/tls.yml").read_text()
    assert "!override" in text
    ports = yaml.safe_load(text.replace("!override", ""))["services"]["api"]["ports"]
    assert [port.rpartition(":")[2] for port in ports] == ["9751"]


def overlay(name: str) -> dict[str, Any]:
    text = (ROOT / "docker" / name).read_text()
    return dict(yaml.safe_load(re.sub("!override|!reset", "", text)))


def test_what_machines_share_is_published_at_one_address_and_apart_from_the_site() -> None:
    shared = overlay("shared.yml")
    assert shared["services"].keys() == {"postgres", "redis", "airflow-api"}
    for service in shared["services"].values():
        assert service["networks"] == ["shared"]
        assert all(re.match(r"\$\{STACK_ADDRESS\b[^}]*\}:\d+:\d+$", port) for port in service["ports"])


def test_another_machine_takes_lanes_alone_and_has_no_secret_that_signs_publishes_or_logs_in() -> None:
    worker = overlay("machine.yml")["services"]["worker"]
    assert worker["environment"] == {"WORKER_QUEUES": "crawl"}
    secrets = {one if isinstance(one, str) else one["source"] for one in worker["secrets"]}
    assert secrets < {one if isinstance(one, str) else one["source"] for one in SERVICES["worker"]["secrets"]}
    assert not secrets & {"signing_key", "aws_credentials", "radar_token", "airflow_admin_password"}


def test_the_tls_front_goes_to_the_site_by_the_name_that_compose_gives_it() -> None:
    caddyfile = (ROOT / "docker/Caddyfile").read_text()
    assert "reverse_proxy api:8750" in caddyfile
    assert "{$SITE_HOST:localhost}" in caddyfile
    assert "./docker/Caddyfile:/etc/caddy/Caddyfile:ro" in SERVICES["tls"]["volumes"]
