"""Run both grids in the lab, and write their table, estimates.csv: `python -m studies.first_flight`."""

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler.capture.first_flight import CapturedFlight
from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from studies.csv_table import write_table
from studies.first_flight.grid import (
    CELLS,
    CONTROLS,
    EXCHANGES,
    NETWORKS,
    SERVERS,
    THINKING_NETWORKS,
    THINKING_SHARES,
    THINKING_WINDOWS,
    WINDOWS,
    Outcome,
    measure,
    thinking_exchanges,
    work,
)

TABLE = Path(__file__).with_name("estimates.csv")
HEAD = (
    *("servers", "before_response", "path", "control", "connections"),
    *("exact", "bounded", "lower_bound", "wrong"),
)
"""Servers answer at once, or think. Bounded: on both sides. The last columns are numbers of connections."""
REASONS = Path(__file__).with_name("reasons.csv")
REASONS_HEAD = ("servers", "reason", "connections")


def rows(servers: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table: by what came before the response, path and congestion control."""
    kinds: dict[tuple[str, str, str], Counter[str]] = {}
    for outcome in outcomes:
        kinds.setdefault((outcome.exchange.id, outcome.network, outcome.control), Counter())[
            verdict(outcome)
        ] += 1
    for kind, verdicts in kinds.items():
        counts = (verdicts[name] for name in ("exact", "bounded", "lower", "wrong"))
        yield (servers, *kind, verdicts.total(), *counts)


def reasons(servers: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table of reasons, the most frequent first."""
    frequencies = Counter(_reason(outcome) for outcome in outcomes if verdict(outcome) == "lower")
    for reason, count in frequencies.most_common():
        yield servers, reason, count


def _reason(outcome: Outcome) -> str:
    return outcome.estimate if isinstance(outcome.estimate, str) else outcome.estimate.unknown


def verdict(outcome: Outcome) -> str:
    """Return how an estimate stands to the truth: exact, bounded on both sides or from below alone, or
    wrong."""
    estimate = outcome.estimate
    if not isinstance(estimate, CapturedFlight):
        return "lower"
    most = estimate.window_most_segments
    if estimate.window_segments > outcome.window or (most is not None and most < outcome.window):
        return "wrong"
    if most is None:
        return "lower"
    return "bounded" if estimate.unknown else "exact"


def main() -> None:
    """Run the grids, one network after another, and write the tables."""
    argparse.ArgumentParser(prog="python -m studies.first_flight", description=__doc__).parse_args()
    lab = find_lab(from_environment().cache_dir)
    servers = SERVERS if shutil.which("go") else tuple(server for server in SERVERS if server[0] != "go")
    at_once = [work([network], EXCHANGES, CONTROLS, WINDOWS) for network in NETWORKS]
    thinking = [
        work(
            [network],
            thinking_exchanges(servers),
            CONTROLS,
            THINKING_WINDOWS,
            shares=THINKING_SHARES,
            cells=CELLS,
            seed=seed,
        )
        for seed, network in enumerate(THINKING_NETWORKS)
    ]
    table: list[tuple[object, ...]] = []
    why: list[tuple[object, ...]] = []
    for name, grid in (("at once", at_once), ("thinking", thinking)):
        outcomes: list[Outcome] = []
        for part in grid:
            outcomes += measure(lab, part)
            print(f"{name}: {len(outcomes)} connections", file=sys.stderr)
        table += rows(name, outcomes)
        why += reasons(name, outcomes)
        print(f"{name}: {len(outcomes)} connections, {dict(Counter(map(verdict, outcomes)))}")
    write_table(TABLE, HEAD, table)
    write_table(REASONS, REASONS_HEAD, why)


if __name__ == "__main__":
    main()
