"""`python -m tests.crawler.outages.lanes`: crawls a public web that stands in for the Internet, in three
lanes, and breaks their network.

Runs in namespaces of its own, where it plays the crawling machine (tests/crawler/egress/world.py). Standard
input says what to do; the crawls' truth is in the database.
"""

import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.crawler.egress import world

LANES = 3
CANARY = "canary.test"
SECOND_RESOLVER = "127.0.0.54"
UNRESOLVED = 0.45
"""Share of its answers that a failing nameserver does not give."""
WITHIN_S = 240.0
ENDED_WELL, ENDED_BADLY, TIME_OVER = 0, 1, 75


def names(sites: int) -> dict[str, list[list[str]]]:
    """Every fifth site has an address that is refused, and every seventh has none."""
    processes = {
        f"s{n}.test": [[world.NEIGHBOUR if n % 5 == 0 else world.PUBLIC]]
        for n in range(1, sites + 1)
        if n % 7
    }
    return {**processes, CANARY: [[world.PUBLIC]]}


def run(*call: str) -> str:
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def guards() -> list[str]:
    """List the links of the guards, which are also the names of their tables."""
    links = json.loads(run("ip", "-json", "link", "show"))
    return [link["ifname"] for link in links if link["ifname"].startswith("ffguard")]


@contextlib.contextmanager
def delete_table(chosen: random.Random) -> Iterator[None]:
    """Delete the table of one lane's guard, for the crawl to notice and mend."""
    run("nft", "delete", "table", "inet", chosen.choice(guards()))
    yield


@contextlib.contextmanager
def delete_link(chosen: random.Random) -> Iterator[None]:
    """Delete the link of one lane's guard, for the crawl to notice and mend."""
    run("ip", "link", "delete", chosen.choice(guards()))
    yield


@contextlib.contextmanager
def cut_network(_: random.Random) -> Iterator[None]:
    """Cut the network beyond the machine: packets leave and none returns."""
    rules = "table inet cut { chain lost { type filter hook prerouting priority raw; iifname up0 drop; }; }"
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    yield
    run("nft", "delete", "table", "inet", "cut")


@contextlib.contextmanager
def uplink_down(_: random.Random) -> Iterator[None]:
    """Take down the machine's uplink, and its routes with it."""
    run("ip", "link", "set", "up0", "down")
    yield
    world.ip(
        "link set up0 up",
        "route replace default via 93.184.215.1",
        f"address replace {world.OWN_6}/64 dev up0 nodad",
        "route replace default via 2606:2800:220:2::1",
    )


@contextlib.contextmanager
def fail_resolver(chosen: random.Random) -> Iterator[None]:
    """Have the machine's nameserver fail for sites at random, and never for the canary."""
    FAILING.append(chosen)
    yield
    FAILING.clear()


FAILING: list[random.Random] = []


def fails(name: str) -> bool:
    return name != CANARY and any(dice.random() < UNRESOLVED for dice in FAILING)


REPAIRED = ("cut_network", "uplink_down", "fail_resolver")
"""Repair the network after a while. A guard is repaired by its own crawl; the other lanes continue
meanwhile."""

FAULTS = {
    fault.__name__: fault for fault in (delete_table, delete_link, cut_network, uplink_down, fail_resolver)
}


@dataclasses.dataclass
class Operator:
    """Starts lanes, and restarts those that fail, as Airflow does."""

    order: dict[str, Any]
    errors: Path
    lanes: list[subprocess.Popen[bytes]] = dataclasses.field(default_factory=list)
    restarts: int = 0

    def firstflight(self, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "FIRSTFLIGHT_DATABASE_URL": self.order["database"],
            "FIRSTFLIGHT_DATA_DIR": str(self.errors.parent),
            "FIRSTFLIGHT_CANARIES": f"http://{CANARY}/",
            "FIRSTFLIGHT_RESOLVERS": self.order["resolvers"],
        }
        call = [sys.executable, "-m", "firstflight", "crawl", *arguments]
        with self.errors.open("ab") as errors:
            return subprocess.Popen(call, env=environment, stdout=subprocess.DEVNULL, stderr=errors)

    def plan(self, vantage: str) -> str:
        sites = self.errors.with_name("sites.txt")
        sites.write_text("".join(f"s{n}.test\n" for n in range(1, self.order["sites"] + 1)))
        budget, attempts = str(self.order["budget_s"]), str(self.order["attempts"])
        plan = ["plan", "--crawl", "2026-11", "--set", f"vantage={vantage}", "--set", f"list={sites}"]
        assert (
            self.firstflight(*plan, "--set", f"budget_s={budget}", "--set", f"attempts={attempts}").wait(60)
            == ENDED_WELL
        )
        return f"2026-11.desktop.{vantage}"

    def lane(self, crawl: str) -> subprocess.Popen[bytes]:
        return self.firstflight(
            "run", "--crawl", crawl, "--set", "browsers=1", "--log", "json", "--until-empty"
        )

    def crawl(self, vantage: str, between: Callable[[], None]) -> None:
        name = self.plan(vantage)
        self.lanes = [self.lane(name) for _ in range(LANES)]
        deadline = time.monotonic() + WITHIN_S
        while any(lane.poll() != ENDED_WELL for lane in self.lanes):
            assert time.monotonic() < deadline, f"the crawl does not end: {self.errors.read_text()}"
            between()
            self.restart(name)
            time.sleep(0.1)

    def restart(self, name: str) -> None:
        self.restarts += sum(lane.poll() not in (None, ENDED_WELL) for lane in self.lanes)
        self.lanes = [lane if lane.poll() in (None, ENDED_WELL) else self.lane(name) for lane in self.lanes]

    def done(self, vantage: str) -> int:
        statement = (
            "SELECT count(final_visit_id) FROM site JOIN crawl ON crawl_id = crawl.id WHERE vantage = %s"
        )
        with psycopg.connect(self.order["database"]) as connection:
            row = connection.execute(statement, [vantage]).fetchone()
        assert row is not None
        return int(row[0])


class Breaker:
    """Breaks one thing after the other, each when so many sites are done, the network for so many seconds."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.random = random.Random(operator.order["seed"])
        sites, faults = operator.order["sites"], operator.order["faults"]
        self.faults = self.random.sample(faults, len(faults))
        self.points = sorted(self.random.sample(range(1, sites // 2), len(faults)))
        self.broken: list[str] = []

    def __call__(self) -> None:
        if self.faults and self.operator.done("broken") >= self.points[0] and len(guards()) == LANES:
            time.sleep(self.random.uniform(0, 1))
            name = self.faults.pop()
            self.points.pop(0)
            with FAULTS[name](self.random):
                time.sleep(self.operator.order["lasts_s"] if name in REPAIRED else 0)
            self.broken.append(name)


def play(order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        operator = Operator(order, Path(folder) / "errors")
        operator.crawl("calm", lambda: None)
        breaker = Breaker(operator)
        operator.crawl("broken", breaker)
        output = operator.errors.read_text()
    return {"broken": breaker.broken, "restarts": operator.restarts, "output": output}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    world.NAMES.update(names(given["sites"]))
    with (
        tempfile.TemporaryDirectory() as folder_name,
        world.machine(Path(folder_name)),
        world.nameserver(fails=fails),
        world.nameserver(SECOND_RESOLVER),
    ):
        print(json.dumps(play(given)))
