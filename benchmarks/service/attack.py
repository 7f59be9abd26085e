"""Measures how long a client waits for an answer while another asks heavy questions and leaves, or waits.

python -m benchmarks.service.attack [--responses 10000000] [--questions 250]
"""

import argparse
import contextlib
import http.client
import itertools
import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.markdown import describe_measurement, table
from benchmarks.results import provenance, write
from benchmarks.service.over_a_year import make_year, wait_until_checked
from benchmarks.service.servers import READY_WITHIN_S, serve, wait_until_prepared
from benchmarks.service.year import MONTHS
from releases.catalogue import Release

ATTACKER, ANOTHER = "127.0.0.1", "127.0.0.2"

SECONDS = 10

EVERY_S = 0.2

MOST_S = 2.0

PATHS = "&".join(f"path=/none{number}" for number in range(60))

KINDS = {
    "nobody asks anything else": "",
    "the connections are closed at once": "abandoned",
    "closed at once, in a way that the server cannot see": "hidden",
    "the other client waits for its answers": "waiting",
    "questions with a wrong value, closed at once": "wrong",
}
"""What another client does meanwhile, with its name in the results."""

TEXT = """## A client that asks too much

`scripts/bench service`: {questions} questions about {responses:,} responses from one client, sent within {sent_s:.1f} s, each of which reads a column of all rows and compares
paths with 60 others. From then on for {seconds} s another client asks one question after the other, which no memory has the answer to.
"""  # noqa: E501


def heavy_question(crawl: str, number: int) -> str:
    """Return a question that nobody asked before and whose rows no statistics of the file rule out."""
    return f"/v1/responses?crawl={crawl}&limit=1000&body_bytes={100_000 + number}&{PATHS}"


def attack(port: int, kind: str, crawl: str, questions: range) -> Iterator[socket.socket]:
    """Send the questions, each on a connection of its own, and yield those that stay open."""
    behind = b"GET /" if kind == "hidden" else b""
    wrong = "&protocol=none" if kind == "wrong" else ""
    for number in questions if kind else ():
        connection = socket.create_connection((ATTACKER, port))
        request = f"GET {heavy_question(crawl, number)}{wrong} HTTP/1.1\r\nHost: {ATTACKER}\r\n\r\n"
        connection.sendall(request.encode() + behind)
        if kind == "waiting":
            yield connection
        else:
            connection.close()


def ask_s(port: int, path: str) -> float:
    began = time.monotonic()
    connection = http.client.HTTPConnection(
        ATTACKER, port, timeout=READY_WITHIN_S, source_address=(ANOTHER, 0)
    )
    with contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        if response.status != http.client.OK:
            raise RuntimeError(f"{path}: status {response.status}")
    return time.monotonic() - began


def measure(root: Path, folder: Path, releases: list[Release], questions: int) -> dict[str, Any]:
    """Return the seconds of the other client's answers during each attack."""
    crawl = str(releases[0].crawl)
    ranks = itertools.count(1)
    measured = {}
    with serve(root, folder) as (pid, address):
        port = urlsplit(address).port or 0
        wait_until_checked(address)
        wait_until_prepared(folder / "cache" / "prepared", pid, len(releases))
        for turn, kind in enumerate(KINDS.values()):
            numbers = range(turn * questions, (turn + 1) * questions)
            began = time.monotonic()
            with contextlib.ExitStack() as stack:
                for connection in attack(port, kind, crawl, numbers):
                    stack.enter_context(connection)
                sent_s = time.monotonic() - began
                taken = []
                while time.monotonic() - began < SECONDS:
                    taken.append(ask_s(port, f"/v1/visits?crawl={crawl}&rank={next(ranks)}&limit=3"))
                    time.sleep(EVERY_S)
            measured[kind or "none"] = {
                "sent_s": round(sent_s, 2),
                "median_s": round(statistics.median(taken), 3),
                "max_s": round(max(taken), 3),
            }
            time.sleep(SECONDS)
    return measured


def find_misses(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"an answer takes {waits['max_s']:g} s, more than {MOST_S:g} s, while questions are {kind}"
        for kind, waits in facts["attacks"].items()
        if waits["max_s"] > MOST_S
    ]


def section(facts: dict[str, Any]) -> str:
    attacks = facts["attacks"]
    rows = [
        [label, *(f"{1000 * attacks[kind or 'none'][name]:,.0f}" for name in ("median_s", "max_s"))]
        for label, kind in KINDS.items()
    ]
    text = TEXT.format(sent_s=max(waits["sent_s"] for waits in attacks.values()), seconds=SECONDS, **facts)
    return "\n".join(
        [
            text,
            table(["ms of the other client's answers while", "median", "slowest"], rows),
            describe_measurement(facts),
        ]
    )


def main() -> int:
    """Measure and write; returns 1 if a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.attack")
    parser.add_argument("--responses", type=int, default=10_000_000, help="rows of the made-up release")
    parser.add_argument("--questions", type=int, default=250)
    options = parser.parse_args()
    facts = provenance()
    root, releases = make_year(options.responses, MONTHS[-1:])
    with tempfile.TemporaryDirectory(prefix="firstflight-bench-") as temporary:
        attacks = measure(root, Path(temporary), releases, options.questions)
    facts |= {
        "responses": releases[0].manifest.rows["response"],
        "questions": options.questions,
        "attacks": attacks,
    }
    print(json.dumps(facts, indent=2))
    print(write("attack", facts), file=sys.stderr)
    misses = find_misses(facts)
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
