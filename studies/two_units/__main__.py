"""Estimate the edition's loads in two units, judge them by rule 7, and state how wide its intervals are.

python -m studies.two_units

Reads the loads that version 2 of the edition of 2026 carried (`version-2`) and, from the data folder, the
release of its pages, which `firstflight import pages` makes. Writes estimates.csv and widths.csv beside this
module.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from firstflight.settings import from_environment
from releases.catalogue import find_release
from replay.recipes.page_recipe import read_recipes
from replay.runs.policy import Policy
from studies.csv_table import write_table
from studies.two_units.emulated import FOR_ALL, WIDE, looks_of, read_edition
from verdict.estimates import GAIN, NET_BENEFIT, RESENT, measure, name_of
from verdict.judgement import Look, judge_candidates
from verdict.rule import FAR_MS, RULE, UNITS

THRESHOLDS_MS = (60, 100, 150)

NORMAL_95 = 1.96
"""Errors to either side of an interval that holds 95 % by itself."""


def main() -> None:
    recipes = read_recipes(find_release(from_environment().releases, "2025-08"))
    looks = looks_of(
        read_edition(Path(__file__).with_name("version-2")), recipes, thresholds_ms=THRESHOLDS_MS
    )
    for name, (head, *rows) in {"estimates": [*estimates(looks[-1])], "widths": [*widths(looks)]}.items():
        write_table(Path(__file__).with_name(f"{name}.csv"), [*map(str, head)], rows)


def beyond(limit_ms: int) -> tuple[Policy, ...]:
    """Return the policies that are read off those for all."""
    return tuple(Policy(wide.window, wide.sending, limit_ms) for wide in WIDE)


def estimates(look: Look) -> Iterator[Sequence[object]]:
    """Yield gain, what is sent again and net benefit of every policy in both units, each with 1.96 errors."""
    policies = (*FOR_ALL, *(policy for limit_ms in THRESHOLDS_MS for policy in beyond(limit_ms)))
    effects = measure(look.evidence, policies, RULE)
    quantities = [name_of(quantity, unit) for unit in UNITS for quantity in (GAIN, RESENT, NET_BENEFIT)]
    yield ("policy", "pairs", *(column for name in quantities for column in (name, "±")))
    for policy in policies:
        found = [effects.of(name, policy) for name in quantities]
        pairs = int(effects.draws[effects.names[quantities[0], policy]])
        cells = (f"{number:.3f}" for each in found for number in (each.value, NORMAL_95 * each.error))
        yield (policy, pairs, *cells)


def widths(looks: Sequence[Look]) -> Iterator[Sequence[object]]:
    """Yield the standing of each candidate, and half the interval of net benefit in both units."""
    candidates = (*FOR_ALL, *beyond(FAR_MS))
    judgements = judge_candidates(looks, RULE.over(*candidates), is_last=True)
    yield ("policy", "standing", "per load", "half", "in sum", "half")
    for judgement in judgements:
        half, in_sum = (
            (interval.upper - interval.lower) / 2 for interval in (judgement.per_load_pp, judgement.in_sum_pp)
        )
        yield (
            judgement.policy,
            judgement.standing,
            f"{judgement.per_load_pp.estimate:.3f}",
            f"{half:.3f}",
            f"{judgement.in_sum_pp.estimate:.3f}",
            f"{in_sum:.3f}",
        )


if __name__ == "__main__":
    main()
