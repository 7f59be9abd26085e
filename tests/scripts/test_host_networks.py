"""docker/host-networks, which lists the host's networks for the guard,
with a docker that records its calls."""

import re
import subprocess
from pathlib import Path

import pytest

from crawler.egress.networks import parse_networks
from crawler.errors import EgressUnavailable

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docker/host-networks"


def run_script(
    file: Path, networks: str, *, code: int = 0, kept: bool = True
) -> subprocess.CompletedProcess[str]:
    """The script, where docker prints these networks and ends with this exit code."""
    docker = file.parent / "docker"
    docker.write_text(f"#!/bin/sh\necho \"$@\" >&2\necho '{networks}'\nexit {code}\n", encoding="ascii")
    docker.chmod(0o755)
    environment = {"PATH": f"{file.parent}:/usr/bin:/bin"}
    return subprocess.run(
        [SCRIPT, *([file] if kept else [])], env=environment, capture_output=True, text=True, check=False
    )


def test_the_hosts_networks_are_asked_on_the_hosts_network_and_kept(tmp_path: Path) -> None:
    done = run_script(tmp_path / "env", "9.9.9.0/24,2606:4700::1/128")
    assert "run --rm --network host" in done.stderr
    assert done.stderr.strip().endswith("-m crawler.egress.machine")
    assert (tmp_path / "env").read_text() == "FIRSTFLIGHT_HOST_NETWORKS=9.9.9.0/24,2606:4700::1/128\n"
    assert (tmp_path / "env").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("end", ["", "\n"])
def test_what_was_found_before_is_replaced_and_all_else_stays(tmp_path: Path, end: str) -> None:
    kept = "WORKERS=2\nFIRSTFLIGHT_BLOCKED_NETWORKS=8.8.8.8"
    (tmp_path / "env").write_text(f"FIRSTFLIGHT_HOST_NETWORKS=1.1.1.1/32\n{kept}{end}")
    run_script(tmp_path / "env", "9.9.9.9/32")
    run_script(tmp_path / "env", "")
    assert (tmp_path / "env").read_text() == f"{kept}\nFIRSTFLIGHT_HOST_NETWORKS=\n"


def test_they_are_printed_where_no_file_is_named(tmp_path: Path) -> None:
    assert run_script(tmp_path / "env", "9.9.9.9/32", kept=False).stdout == "9.9.9.9/32\n"
    assert not (tmp_path / "env").exists()


def test_a_host_that_cannot_be_asked_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("FIRSTFLIGHT_HOST_NETWORKS=1.1.1.1/32\n")
    assert run_script(tmp_path / "env", "", code=1).returncode != 0
    assert (tmp_path / "env").read_text() == "FIRSTFLIGHT_HOST_NETWORKS=1.1.1.1/32\n"


def test_tasks_of_the_stack_are_told_the_operators_and_the_hosts_networks_before_they_start() -> None:
    up = (ROOT / "scripts/up").read_text(encoding="utf-8")
    assert up.index("docker/host-networks") < up.index("docker compose up")
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    (line,) = re.findall(r"FIRSTFLIGHT_BLOCKED_NETWORKS: (.*)", compose)
    operators, hosts = line.split(" ")
    assert operators == "${FIRSTFLIGHT_BLOCKED_NETWORKS:-}"
    word = hosts.removeprefix("${FIRSTFLIGHT_HOST_NETWORKS-").removesuffix("}")
    with pytest.raises(
        EgressUnavailable, match=re.escape(word)
    ):  # a stack that was brought up without it crawls nothing
        parse_networks(word)
