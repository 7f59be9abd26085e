"""Results of the simulations as tables, with the bounds that replays in stages are held against."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from studies.csv_table import write_table
from studies.simulations import characteristics
from studies.simulations.characteristics import WORLDS
from studies.simulations.coverage import Coverage
from studies.simulations.staged import SETTINGS, Setting, right_answer

MOST_WRONG, MOST_UNDECIDED = 0.05, 0.2
"""Bounds, as shares of the draws."""

VERDICTS = ("right", "wrong", "undecided")
ANSWERS = ("world", "right_answer", "draws", *VERDICTS)

Counts = Mapping[str, Mapping[str, int]]
"""Numbers of right, wrong and undecided answers, by the id of a world or by `key`."""


def key(world: characteristics.World, setting: Setting) -> str:
    """Name of a world under a setting, in results."""
    return f"{setting.id}: {world.id}"


def write_coverage(folder: Path, found: Sequence[Coverage]) -> None:
    """Write coverage.csv: shares of the draws in which intervals of 95 % hold the truth,
    or lie above or below it."""
    head = ("world", "draws", "one_interval", "six_together", "lower_end_too_high", "upper_end_too_low")
    rows = ((one.world.title, one.repetitions, one.one, one.all, one.too_high, one.too_low) for one in found)
    write_table(folder / "coverage.csv", head, rows)


def write_rule(folder: Path, counts: Counts) -> None:
    """Write rule.csv: the rule's answers to loads of a fixed number."""
    rows = (answers(world.id, world.answer, found) for world in WORLDS if (found := counts.get(world.id)))
    write_table(folder / "rule.csv", ANSWERS, rows)


def write_stages(folder: Path, counts: Counts) -> None:
    """Write stages.csv: the answers of replays in stages."""
    rows = (
        (setting.id, *answers(world.id, right_answer(world), found), ", ".join(missed(found)))
        for setting, world, found in played(counts)
    )
    write_table(folder / "stages.csv", ("setting", *ANSWERS, "missed"), rows)


def answers(world: str, right: int | None, found: Mapping[str, int]) -> tuple[object, ...]:
    """A row of ANSWERS."""
    named = "no change" if right is None else f"IW {right}"
    return (world, named, sum(found.values()), *(found.get(one, 0) for one in VERDICTS))


def missed(found: Mapping[str, int]) -> list[str]:
    """The bounds that the answers in a world miss.

    >>> missed({"right": 94, "wrong": 6}), missed({"right": 8, "undecided": 2})
    (['wrong'], [])
    """
    bounds = {"wrong": MOST_WRONG, "undecided": MOST_UNDECIDED}
    draws = max(1, sum(found.values()))
    return [one for one, most in bounds.items() if found.get(one, 0) / draws > most]


def played(counts: Counts) -> Iterator[tuple[Setting, characteristics.World, Mapping[str, int]]]:
    """The settings and worlds that were played, in order."""
    for setting in SETTINGS:
        for world in WORLDS:
            if found := counts.get(key(world, setting)):
                yield setting, world, found
