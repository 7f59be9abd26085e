"""Initial windows as the command line takes them."""

from __future__ import annotations

import click

from firstflight.commands.replay.condition_words import MOST_SEGMENTS
from releases.slow_start import WINDOWS
from reports.recommendation.rule import CANDIDATES

DEFAULT_WINDOWS = ",".join(map(str, WINDOWS))

ALL_CANDIDATES = "candidates"
"""Value of --iw for all windows that the rule may recommend."""

MOST_WINDOWS = 48
"""Most initial windows of a replay. A guest has room for 64, with those of background and competing flows."""


def parse_windows(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Read distinct numbers of segments from a comma-separated list, or the rule's; None if the option was not given."""
    if value is None:
        return None
    if value == ALL_CANDIDATES:
        return tuple(candidate.segments for candidate in CANDIDATES)
    words = value.split(",")
    if not all(word.isascii() and word.isdecimal() and 1 <= int(word) <= MOST_SEGMENTS for word in words):
        raise click.BadParameter(
            f"{value!r} is no list of windows of 1 to {MOST_SEGMENTS} segments, such as {DEFAULT_WINDOWS}"
        )
    found = tuple(dict.fromkeys(int(word) for word in words))
    if len(found) > MOST_WINDOWS:
        raise click.BadParameter(f"a guest has room for {MOST_WINDOWS} windows, and these are {len(found)}")
    return found
