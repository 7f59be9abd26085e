"""Guards take turns by a lock that an unprivileged user cannot hold."""

import os
import subprocess
import sys

import pytest

from crawler.egress.building import LOCK_FILE
from tests.crawler.namespaces import BECOME_ORDINARY, ENTERED_BY
from tests.zoo.serving.namespace import in_namespace

SQUAT = f"""
import fcntl, os, socket, sys
name = socket.socket(socket.AF_UNIX)
name.bind("\\0firstflight-egress")
try:
    descriptor = os.open({LOCK_FILE!r}, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    print("locked", flush=True)
except PermissionError:
    print("refused", flush=True)
sys.stdin.read()
"""

GUARDED = """
import sys, tempfile
from pathlib import Path
from crawler.egress.guard import set_up_guard
from tests.crawler.egress import world
with tempfile.TemporaryDirectory() as folder, world.machine(Path(folder)), world.nameserver():
    print("ready", flush=True)
    sys.stdin.readline()
    with set_up_guard() as guard:
        guard.check()
    print("guarded")
"""

TURNS = """
import sys
from crawler.egress import building
building.LOCK_WITHIN_S = 0.1
with building.hold_lock():
    print("mine", flush=True)
    sys.stdin.readline()
"""


def test_a_user_who_takes_the_names_of_guards_blocks_no_guard() -> None:
    if os.geteuid() != 0:
        pytest.fail("to become another user takes root: run the tests as root")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*ENTERED_BY["root"], sys.executable, "-c", GUARDED], stdin=pipe, stdout=pipe, text=True
    ) as crawl:
        assert crawl.stdin is not None
        assert crawl.stdout is not None
        assert crawl.stdout.readline() == "ready\n"
        (inner,) = subprocess.run(
            ["pgrep", "-P", str(crawl.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        enter = ["nsenter", f"--net=/proc/{inner}/ns/net"]
        squatting = [*enter, *BECOME_ORDINARY, "/usr/bin/python3", "-c", SQUAT]
        with subprocess.Popen(squatting, stdin=pipe, stdout=pipe, text=True) as squatter:
            assert squatter.stdin is not None
            assert squatter.stdout is not None
            assert squatter.stdout.readline() == "refused\n"
            crawl.stdin.write("\n")
            crawl.stdin.flush()
            assert crawl.stdout.readline() == "guarded\n"
            squatter.stdin.close()


def taking_turns() -> list[str]:
    """Return the output of a second process while a first holds the lock, and after the first was killed."""
    pipe = subprocess.PIPE
    call = [sys.executable, "-B", "-c", TURNS]
    with subprocess.Popen(call, stdin=pipe, stdout=pipe, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "mine\n"
        late = subprocess.run(call, input="", capture_output=True, text=True, check=False)
        first.kill()
    then = subprocess.run(call, input="", capture_output=True, text=True, check=False)
    return [late.stderr.splitlines()[-1], then.stdout.strip()]


def test_privileged_processes_take_turns_and_a_killed_one_releases_the_lock() -> None:
    late, then = in_namespace("tests.crawler.egress.test_lock:taking_turns")
    assert "another address guard is being set up" in late
    assert then == "mine"
