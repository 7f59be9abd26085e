"""`firstflight localweb` as a process of its own."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firstflight.commands.localweb import command
from firstflight.main import main
from localweb.serving.handler import ServedOrigin

SERVE = [sys.executable, "-m", "firstflight", "localweb", "serve"]


def wait_for(state: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    for _ in range(2400):
        if state.exists():
            result: dict[str, Any] = json.loads(state.read_text(encoding="utf-8"))
            return result
        assert process.poll() is None
        time.sleep(0.05)
    pytest.fail("no state file")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_told_and_then_writes_its_log(
    number: signal.Signals, tmp_path: Path, fetch: Callable[..., Coroutine[Any, Any, Any]]
) -> None:
    state, log = tmp_path / "state.json", tmp_path / "log.jsonl"
    call = [*SERVE, "--mode", "h1tls", "--state", str(state), "--log", str(log), "--pages", "www.etat.lu"]
    with subprocess.Popen(call, text=True, stderr=subprocess.PIPE) as process:
        try:
            facts = wait_for(state, process)
            assert (facts["mode"], facts["sites"]) == ("h1tls", ["www.etat.lu.test"])
            with urllib.request.urlopen(facts["canaries"][0]) as answer:
                assert answer.status == 204
            rule = re.search(r"MAP www\.etat\.lu\.test:443 ([\d.]+):(\d+)", facts["browser_flags"][0])
            assert rule
            endpoint = (rule[1], int(rule[2]))
            seen = asyncio.run(fetch(ServedOrigin("https", "www.etat.lu.test"), endpoint, ["/"]))
        finally:
            process.send_signal(number)
        assert process.wait(60) == 0

    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["clocks", "connection", "response"]
    assert lines[1]["sent_bytes"] == seen.tcp_bytes
    assert lines[2]["wire_bytes"] == seen.arrived["/"].wire_bytes
    assert {file.name for file in tmp_path.iterdir()} == {"state.json", "log.jsonl"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "no.such.example"], "no page of no.such.example"),
        (["--pages", "99"], "there are 30"),
        (["--state", "/nowhere/state.json", "--pages", "1"], "/nowhere"),
    ],
)
def test_what_cannot_be_served_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    state = [] if "--state" in arguments else ["--state", str(tmp_path / "state.json")]
    done = CliRunner().invoke(command, ["serve", *state, *arguments])

    assert done.exit_code == 1
    assert message in done.output
    assert done.output.count("\n") == 1


def test_the_list_has_every_page_and_its_inexact_sizes() -> None:
    pages = json.loads(CliRunner().invoke(command, ["list", "--json"]).output)

    assert len(pages) == 30
    assert sum(page["objects"] for page in pages) == 3775
    assert sum(len(page["inexact"]) for page in pages) == 42
    assert {"repository", "commit", "licence", "file", "tool", "date"} == set(pages[0]["source"])


def test_the_list_is_a_line_a_page() -> None:
    done = CliRunner().invoke(main, ["localweb", "list"])

    assert done.exit_code == 0
    assert len(done.output.splitlines()) == 31
