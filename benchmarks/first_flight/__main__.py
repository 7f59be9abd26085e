"""Runs the whole grid in the lab, and writes its table into docs/methods.md: `scripts/bench first-flight`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.first_flight.grid import (
    CONTROLS,
    EXCHANGES,
    MSS,
    NETWORKS,
    SHARES,
    WINDOWS,
    Outcome,
    measure,
    work,
)
from crawler.capture.first_flight import FirstFlight
from firstflight.settings import from_environment
from replay.lab import kernel, player
from replay.lab.guest_process import Lab

METHODS = Path(__file__).parents[2] / "docs" / "methods.md"
BEGIN, END = "<!-- first-flight: begin -->\n", "<!-- first-flight: end -->\n"
HEAD = [
    "before the response",
    "sender",
    "connections",
    "exact",
    "exact, of windows of 8 and more whose response is three and more",
    "lower bound is the truth",
    "is below it",
    "above the truth",
]
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


def rows(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
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


def row(exchange: str, kind: str, outcomes: Sequence[Outcome]) -> list[str]:
    """One row of the table."""
    found: Counter[str] = Counter(verdict(one) for one in outcomes)
    ample = [
        verdict(one)
        for one in outcomes
        if one.window >= LARGE_WINDOW and one.body >= WINDOWS_LONG * one.window * MSS
    ]
    return [
        exchange,
        kind,
        str(len(outcomes)),
        share(found["exact"], len(outcomes)),
        share(ample.count("exact"), len(ample)),
        *(str(found[name]) for name in ("equal", "below", "above")),
    ]


def share(count: int, of: int) -> str:
    """A count and its share."""
    return f"{count} of {of}, {count / of:.0%}" if of else "-"


def verdict(outcome: Outcome) -> str:
    """How an estimate stands to the truth: exact, equal but not known to be, below, above, or wrong: exact in its own eyes."""
    estimate = outcome.estimate
    if not isinstance(estimate, FirstFlight):
        return "below"
    if estimate.window_segments > outcome.window:
        return "above"
    if estimate.window_segments < outcome.window:
        return "below" if estimate.unknown else "wrong"
    return "equal" if estimate.unknown else "exact"


def markdown(outcomes: Sequence[Outcome]) -> str:
    """The table, with the conditions and what went wrong."""
    wrong = sum(verdict(one) == "wrong" for one in outcomes)
    lines = [
        f"{len(outcomes)} connections: initial windows of {', '.join(map(str, WINDOWS))} segments; responses of"
        f" {', '.join(map(str, SHARES))} times the window; {' and '.join(CONTROLS)}; paths of"
        f" {'; '.join(network.id for network in NETWORKS)}. Called exact, but wrong: {wrong}.",
        "",
        *("| " + " | ".join(cells) + " |" for cells in [HEAD, ["---"] * len(HEAD), *rows(outcomes)]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the grid, one network after another, and write the table."""
    cache = from_environment().cache_dir
    lab = Lab(kernel=kernel.locate(cache), player=player.build_player(cache, print))
    outcomes = []
    for network in NETWORKS:
        outcomes += measure(lab, work([network], EXCHANGES, CONTROLS, WINDOWS))
        print(f"{network.id}: {len(outcomes)} connections", file=sys.stderr)
    before, begin, rest = METHODS.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    METHODS.write_text(before + begin + markdown(outcomes) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
