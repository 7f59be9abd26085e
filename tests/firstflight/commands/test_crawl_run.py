"""`crawl run` as an operator starts it: a process of its own, Chromium, PostgreSQL,
and servers that misbehave."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from crawler.capture.ring import open_socket
from firstflight.main import main
from storage.progress import read_progress

pytestmark = pytest.mark.browser


@contextlib.contextmanager
def server(accepted: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port on loopback whose every connection is handed to `accepted`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    accepted(listening.accept()[0])

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def settings(*values: str) -> list[str]:
    return [word for value in values for word in ("--set", value)]


class Operator:
    """Plans and runs a crawl of two sites that both lead to one port."""

    def __init__(
        self, folder: Path, engine: Engine, port: int, *, attempts: int = 2, canary: int | None = None
    ) -> None:
        self.engine = engine
        self.environment = {
            **os.environ,
            "FIRSTFLIGHT_DATA_DIR": str(folder / "data"),
            "FIRSTFLIGHT_DATABASE_URL": engine.url.render_as_string(hide_password=False),
        }
        self.state = folder / "state.json"
        facts = {"browser_flags": [f"--host-resolver-rules=MAP *.test 127.0.0.1:{port}"]}
        if canary is not None:
            facts["canaries"] = [f"http://127.0.0.1:{canary}/"]
        self.state.write_text(json.dumps(facts))
        (folder / "sites.txt").write_text("a.test\nb.test\n")
        plan = [f"list={folder / 'sites.txt'}", "kind=localweb", "budget_s=5", f"attempts={attempts}"]
        assert self.do("plan", *settings(*plan)).exit_code == 0

    def do(self, action: str, *arguments: str, crawl: str = "2026-11") -> Result:
        """Run a command that needs no process of its own."""
        return CliRunner().invoke(main, ["crawl", action, "--crawl", crawl, *arguments], env=self.environment)

    def run(self, *arguments: str) -> subprocess.Popen[str]:
        call = [
            "crawl",
            "run",
            "--crawl",
            "2026-11",
            *settings(f"local_web={self.state}"),
            "--json",
            *arguments,
        ]
        return subprocess.Popen(
            [sys.executable, "-m", "firstflight", *call],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement))]


def answer(connection: socket.socket) -> None:
    with connection:
        if connection.recv(65_536).startswith(b"GET"):  # and not a ClientHello
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


def may_capture() -> bool:
    try:
        open_socket("lo").close()
    except PermissionError:
        return False
    return True


def test_packets_carried_what_the_log_says(tmp_path: Path, database_18: Engine) -> None:
    with server(answer) as port:
        operator = Operator(tmp_path, database_18, port)
        output, errors = operator.run().communicate(timeout=120)
    assert json.loads(output)["ended"] == "queue empty", errors
    sizes = "SELECT wire_bytes, header_bytes, body_bytes FROM response WHERE scheme = 'http'"
    assert set(operator.ask(sizes)) == {(62, 57, 5)}
    columns = (
        "packet_bytes, first_flight_bytes, first_flight_packets, "
        "initial_window_segments, initial_window_unknown"
    )
    packets = set(operator.ask(f"SELECT {columns} FROM connection WHERE received_bytes = 62"))
    seen = (62, 62, 1, 1, "response_ended") if may_capture() else (None, None, None, None, "not_captured")
    assert packets == {seen}


def test_a_server_that_resets_is_an_outcome_not_an_error(tmp_path: Path, database_18: Engine) -> None:
    with server(reset) as port:
        operator = Operator(tmp_path, database_18, port)
        output, errors = operator.run("--log", "json").communicate(timeout=120)
    assert json.loads(output)["ended"] == "queue empty", errors
    ends = operator.ask("SELECT outcome, is_final, attempt FROM visit ORDER BY rank, attempt")
    assert ends == [("connect", False, 1), ("connect", True, 2)] * 2
    events = [json.loads(line) for line in errors.splitlines()]
    columns = (
        "visit_id",
        "shard",
        "rank",
        "host",
        "attempt",
        "outcome",
        "is_final",
        "error",
        "received_bytes",
    )
    assert sorted(tuple(event[column] for column in columns) for event in events) == operator.ask(
        "SELECT id, owner, rank, host, attempt, outcome, is_final, error, "
        "received_bytes FROM visit ORDER BY id"
    )
    assert {event["event"] for event in events} == {"visit"}
    assert {event["crawl"] for event in events} == {json.loads(output)["crawl"]}
    (progress,) = read_progress(tmp_path / "data/progress")
    assert (progress.done, progress.planned, progress.outcomes) == (2, 2, {"connect": 2})
    assert operator.do("seal").exit_code == 0
    (last,) = read_progress(tmp_path / "data/progress")
    assert last.sealed_at is not None
    ((browser, flags),) = operator.ask("SELECT browser, browser_flags FROM crawl")
    assert "Chrom" in str(browser)
    assert "--host-resolver-rules" in str(flags)


def test_a_run_whose_time_is_over_asks_to_be_started_again(tmp_path: Path, database_18: Engine) -> None:
    with server(reset) as port:
        operator = Operator(tmp_path, database_18, port)
        late = operator.run("--set", "minutes=0.0001", "--until-empty")
        output, errors = late.communicate(timeout=120)
    assert (late.returncode, json.loads(output)["ended"]) == (75, "time over"), errors
    assert operator.ask("SELECT count(owner), count(final_visit_id) FROM site") == [(0, 0)]


def test_a_crawl_whose_web_cannot_be_reached_waits_and_says_so_once(
    tmp_path: Path, database_18: Engine
) -> None:
    probes: list[int] = []

    def refuse(connection: socket.socket) -> None:
        probes.append(1)
        reset(connection)

    with server(reset) as port, server(refuse) as canary:
        operator = Operator(tmp_path, database_18, port, canary=canary)
        waiting = operator.run("--until-empty")
        deadline = time.monotonic() + 60
        while len(probes) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        waiting.terminate()
        output, errors = waiting.communicate(timeout=120)
    assert len(probes) >= 3
    assert (waiting.returncode, json.loads(output)["visits"]) == (143, 0), errors
    assert errors.count("the network is down: no canary answers") == 1
    assert operator.ask("SELECT sum(attempts), count(owner) FROM site") == [(0, 0)]


def test_a_crawler_that_is_killed_before_a_canary_answers_has_written_no_failure(
    tmp_path: Path, database_18: Engine
) -> None:
    asked: list[socket.socket] = []

    def first_alone(connection: socket.socket) -> None:
        if asked:
            asked.append(connection)  # and silence
            return
        asked.append(connection)
        answer(connection)

    with server(reset) as port, server(first_alone) as canary:
        operator = Operator(tmp_path, database_18, port, attempts=1, canary=canary)
        process = operator.run()
        deadline = time.monotonic() + 60
        while len(asked) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        for connection in asked:
            connection.close()
    assert len(asked) == 2
    assert operator.ask("SELECT count(*) FROM visit") == [(0,)]
    assert operator.ask("SELECT count(final_visit_id) FROM site") == [(0,)]


def test_a_malformed_canary_is_one_line(tmp_path: Path, database_18: Engine) -> None:
    operator = Operator(tmp_path, database_18, 9)
    operator.environment["FIRSTFLIGHT_CANARIES"] = "https://a.test/"
    plan = settings(f"list={tmp_path / 'sites.txt'}", "vantage=live")
    assert operator.do("plan", *plan).exit_code == 0
    done = operator.do("run", crawl="2026-11.desktop.live")
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "FIRSTFLIGHT_CANARIES: 'https://a.test/' is no canary: name google" in line


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)]
)
def test_a_run_that_is_told_to_end_gives_its_visits_back(
    tmp_path: Path, database_18: Engine, number: signal.Signals, code: int
) -> None:
    kept: list[socket.socket] = []
    with server(kept.append) as port:
        operator = Operator(tmp_path, database_18, port)
        process = operator.run()
        deadline = time.monotonic() + 60
        while not kept and time.monotonic() < deadline:
            time.sleep(0.05)
        assert operator.ask("SELECT count(owner) FROM site") > [(0,)]
        if number == signal.SIGINT:  # as a terminal sends it: to the browsers and their driver too
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        for connection in kept:
            connection.close()
    assert process.returncode == code, errors
    assert json.loads(output)["ended"] == "stopped"
    assert "Traceback" not in errors
    assert operator.ask("SELECT count(owner), sum(attempts), count(final_visit_id) FROM site") == [(0, 0, 0)]
    assert operator.ask("SELECT count(*) FROM visit") == [(0,)]


@pytest.mark.thorough
def test_a_page_that_never_answers_ends_with_its_budget(tmp_path: Path, database_18: Engine) -> None:
    kept: list[socket.socket] = []
    with server(kept.append) as port:
        operator = Operator(tmp_path, database_18, port, attempts=1)
        began = time.time()
        output, errors = operator.run().communicate(timeout=120)
        run_s = time.time() - began
        for connection in kept:
            connection.close()
    assert json.loads(output)["ended"] == "queue empty", errors
    assert operator.ask("SELECT DISTINCT outcome FROM visit") == [("timeout",)]
    # https has half of the five seconds to answer, and http what is left; the visit is one of the two.
    ((longest,),) = operator.ask("SELECT max(extract(epoch FROM ended_at - started_at))::float8 FROM visit")
    assert float(str(longest)) < 15
    assert run_s >= 5
