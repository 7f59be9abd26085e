"""Initial windows as the command line takes them."""

import click

from firstflight.commands.replay.condition_words import MOST_SEGMENTS
from releases.slow_start import WINDOWS
from replay.runs.initial_window import window_of
from verdict.rule import CANDIDATES

DEFAULT_WINDOWS = ",".join(map(str, WINDOWS))

ALL_CANDIDATES = "candidates"
"""Value of --iw for all windows that the rule may recommend."""

MOST_WINDOWS = 48
"""Most initial windows of a replay. A guest has room for 64, with those of background and competing flows."""


def parse_windows(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Read distinct windows from a comma-separated list, or the rule's; None if the option was not given."""
    if value is None:
        return None
    if value == ALL_CANDIDATES:
        return tuple(candidate.window for candidate in CANDIDATES)
    try:
        found = tuple(dict.fromkeys(map(window_of, value.split(","))))
    except ValueError as exc:
        raise click.BadParameter(f"{value!r} is no list of windows: {exc}") from exc
    if not all(1 <= int(window) <= MOST_SEGMENTS for window in found):
        raise click.BadParameter(
            f"{value!r} is no list of windows of 1 to {MOST_SEGMENTS} segments, such as {DEFAULT_WINDOWS}"
        )
    if len(found) > MOST_WINDOWS:
        raise click.BadParameter(f"a guest has room for {MOST_WINDOWS} windows, and these are {len(found)}")
    return found
