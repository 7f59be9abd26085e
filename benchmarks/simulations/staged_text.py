"""The table of replays in stages, with the bounds that it is held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.simulations.characteristics import WORLDS, World
from benchmarks.simulations.staged import SETTINGS, Setting, right_answer

MOST_WRONG, MOST_UNDECIDED = 5.0, 20.0
"""Bounds in percent of the draws."""

Counts = Mapping[str, Mapping[str, int]]
"""Numbers of right, wrong and undecided answers, by `key`."""


def key(world: World, setting: Setting) -> str:
    """Name of a world under a setting, in results."""
    return f"{setting.id}: {world.id}"


def answer_text(world: World) -> str:
    """The right answer of a world, as reports name it."""
    answer = right_answer(world)
    return "no change" if answer is None else f"IW {answer}"


def missed(found: Mapping[str, int]) -> list[str]:
    """The bounds that a row's answers miss."""
    bounds = {"wrong": MOST_WRONG, "undecided": MOST_UNDECIDED}
    return [one for one, most in bounds.items() if percent(found, one) > most]


def percent(found: Mapping[str, int], one: str) -> float:
    """Answers of one kind in percent of all."""
    return 100 * found.get(one, 0) / max(1, sum(found.values()))


def text(counts: Counts, *, commit: str, date: str) -> str:
    """The table below its findings."""
    rows = list(rows_of(counts))
    lines = [
        f"Measured on {date}, commit {commit}. {findings(rows)}",
        "",
        "| rule and budget | world | right answer | draws | right | wrong, at most 5 % | undecided, at most 20 % | missed |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {setting.id} | {world.id} | {answer_text(world)} | {sum(found.values())} | "
            + " | ".join(f"{percent(found, one):.1f} %" for one in ("right", "wrong", "undecided"))
            + f" | {', '.join(missed(found)) or '-'} |"
            for setting, world, found in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def rows_of(counts: Counts) -> Iterator[tuple[Setting, World, Mapping[str, int]]]:
    """The settings and worlds that were played, in order."""
    for setting in SETTINGS:
        for world in WORLDS:
            if found := counts.get(key(world, setting)):
                yield setting, world, found


def findings(rows: list[tuple[Setting, World, Mapping[str, int]]]) -> str:
    """Which bounds are kept and missed, in sentences.

    >>> two, every, longer = SETTINGS
    >>> findings([(two, WORLDS[0], {"right": 99, "wrong": 1}), (every, WORLDS[1], {"undecided": 9, "right": 1})])
    'At most 5 % wrong: kept in all 2 rows. At most 20 % undecided: missed in 1 of 2 rows (every bound, 45 minutes: 1 of 1).'
    """
    found = []
    for kind, most in (("wrong", MOST_WRONG), ("undecided", MOST_UNDECIDED)):
        missing = [setting for setting, _, answers in rows if kind in missed(answers)]
        where = ", ".join(
            f"{one.id}: {missing.count(one)} of {sum(setting is one for setting, _, _ in rows)}"
            for one in SETTINGS
            if one in missing
        )
        verdict = (
            f"missed in {len(missing)} of {len(rows)} rows ({where})"
            if missing
            else f"kept in all {len(rows)} rows"
        )
        found.append(f"At most {most:g} % {kind}: {verdict}.")
    return " ".join(found)
