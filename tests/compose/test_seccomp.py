"""The seccomp profile of what runs tasks: Docker's own allow-list and no more than it has to be."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

DOCKER = Path(__file__).parents[2] / "docker"
DEFAULT = DOCKER / "seccomp/default.json"
PROFILE = json.loads((DOCKER / "seccomp.json").read_text())
ADDED = {"chroot", "clone", "mount", "pivot_root", "setns", "umount2", "unshare"}


def unconditional(profile: dict[str, Any]) -> set[str]:
    """Calls that each container may make, whatever its capabilities and their arguments."""
    return {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW"
        and not any(rule.get(key) for key in ("args", "includes", "excludes"))
        for name in rule["names"]
    }


def test_what_is_not_named_is_refused() -> None:
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"


def test_it_is_what_derive_makes_of_docker_s_default() -> None:
    subprocess.run([DOCKER / "seccomp/derive", "--check"], check=True)


def test_docker_s_default_is_the_file_that_the_readme_says_it_is() -> None:
    readme = (DOCKER / "seccomp/README.md").read_text()
    assert hashlib.sha256(DEFAULT.read_bytes()).hexdigest() in readme
    assert "Apache License" in (DOCKER.parent / "LICENSES/Apache-2.0.txt").read_text()


def test_it_allows_seven_calls_more_than_docker_s_default() -> None:
    assert unconditional(PROFILE) - unconditional(json.loads(DEFAULT.read_text())) == ADDED


def test_calls_with_which_containers_were_left_stay_refused() -> None:
    for name in (
        "keyctl",
        "add_key",
        "bpf",
        "io_uring_setup",
        "userfaultfd",
        "kexec_load",
        "open_by_handle_at",
        "fsopen",
    ):
        assert name not in unconditional(PROFILE), name


def test_each_addition_says_why() -> None:
    rules = json.loads((DOCKER / "seccomp/additions.json").read_text())
    assert {name for rule in rules for name in rule["names"]} == ADDED
    assert all(len(rule["comment"]) > 60 for rule in rules)
