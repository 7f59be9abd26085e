"""Run the whole grid in the lab, and write its table, estimates.csv: `python -m studies.first_flight`."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler.capture.first_flight import FirstFlight
from firstflight.settings import from_environment
from replay.lab import kernel, player
from replay.lab.guest_process import Lab
from studies.csv_table import write_table
from studies.first_flight.grid import CONTROLS, EXCHANGES, MSS, NETWORKS, WINDOWS, Outcome, measure, work

TABLE = Path(__file__).with_name("estimates.csv")
HEAD = (
    *("before_response", "sender", "connections", "exact"),
    *("connections_of_large_windows", "exact_of_large_windows"),
    *("lower_bound_is_truth", "below_truth", "above_truth"),
)
"""Large windows have 8 segments and more, and a response three times as long and more.

Columns are numbers of connections.
"""

LARGE_WINDOW, WINDOWS_LONG = 8, 3
PACED = {network.id: network.is_paced for network in NETWORKS}
LOSSY = {network.id for network in NETWORKS if network.loss_percent}
JITTERY = {network.id for network in NETWORKS if network.jitter_us}


def sender(outcome: Outcome) -> str:
    """How the connection's server sent, for the table."""
    if outcome.network in LOSSY:
        return "any, 1 % loss"
    if outcome.network in JITTERY:
        return "any, jitter of 1 ms"
    if outcome.control == "bbr":
        return "BBR, which paces"
    return "CUBIC, paced" if PACED[outcome.network] else "CUBIC"


def rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    """Rows of the table: responses longer than the window by exchange and sender, then all others."""
    longer = [one for one in outcomes if one.is_longer]
    kinds = sorted({sender(one) for one in longer}, key=lambda kind: (kind.startswith("any"), kind))
    for exchange in EXCHANGES:
        for kind in kinds:
            yield row(
                exchange.id,
                kind,
                [one for one in longer if (one.exchange, sender(one)) == (exchange.id, kind)],
            )
    yield row("any, response within the window", "any", [one for one in outcomes if not one.is_longer])


def row(exchange: str, kind: str, outcomes: Sequence[Outcome]) -> tuple[object, ...]:
    """One row of the table."""
    found: Counter[str] = Counter(verdict(one) for one in outcomes)
    ample = [
        verdict(one)
        for one in outcomes
        if one.window >= LARGE_WINDOW and one.body >= WINDOWS_LONG * one.window * MSS
    ]
    counts = (len(outcomes), found["exact"], len(ample), ample.count("exact"))
    return (exchange, kind, *counts, *(found[name] for name in ("equal", "below", "above")))


def verdict(outcome: Outcome) -> str:
    """How an estimate stands to the truth: exact, equal but not known to be, below, above, or wrong:
    exact in its own eyes."""
    estimate = outcome.estimate
    if not isinstance(estimate, FirstFlight):
        return "below"
    if estimate.window_segments > outcome.window:
        return "above"
    if estimate.window_segments < outcome.window:
        return "below" if estimate.unknown else "wrong"
    return "equal" if estimate.unknown else "exact"


def main() -> None:
    """Run the grid, one network after another, and write the table."""
    argparse.ArgumentParser(prog="python -m studies.first_flight", description=__doc__).parse_args()
    cache = from_environment().cache_dir
    lab = Lab(kernel=kernel.locate(cache), player=player.build_player(cache, print))
    outcomes = []
    for network in NETWORKS:
        outcomes += measure(lab, work([network], EXCHANGES, CONTROLS, WINDOWS))
        print(f"{network.id}: {len(outcomes)} connections", file=sys.stderr)
    write_table(TABLE, HEAD, rows(outcomes))
    wrong = sum(verdict(one) == "wrong" for one in outcomes)
    print(f"{len(outcomes)} connections; called exact, but wrong: {wrong}")


if __name__ == "__main__":
    main()
