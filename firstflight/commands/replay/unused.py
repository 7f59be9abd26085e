"""Options of a replay that would do nothing, so that they are refused in place of being passed over."""

from collections.abc import Iterator

import click
from click.core import ParameterSource

OF_STAGES = ("budget", "number")
"""Options that `--until decided` alone heeds."""

OF_WHOLE_REPLAYS = (
    "networks",
    "seeds",
    "harm_pages",
    "harm_windows",
    "harm_seeds",
    "sensitivity_pages",
)
"""Options that stages choose themselves: each draw has a network and a seed of its own."""

OF_FEW_PAGES = {
    "harm_pages": ("harm", "sensitivity"),
    "harm_windows": ("harm", "sensitivity"),
    "harm_seeds": ("harm",),
    "sensitivity_pages": ("sensitivity",),
}
"""Options of the loads of a few pages, and those of which one must be given for them to do anything."""


def refuse_unused(context: click.Context) -> None:
    """Raise UsageError if the command line has an option that does nothing beside the others."""
    if problem := next(_problems(context), None):
        raise click.UsageError(problem)


def _problems(context: click.Context) -> Iterator[str]:
    names = {one.name: one.opts[0] for one in context.command.params}
    given = [
        name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
    if context.params.get("until"):
        for name in OF_WHOLE_REPLAYS:
            if name in given:
                yield (
                    "--until decided chooses networks, seeds and harm conditions itself: "
                    f"leave {names[name]} out"
                )
        return
    for name in OF_STAGES:
        if name in given:
            yield f"{names[name]} does nothing without --until decided"
    for name, owners in OF_FEW_PAGES.items():
        if name in given and not any(context.params[one] not in (False, "none") for one in owners):
            yield f"{names[name]} does nothing without {' or '.join('--' + one for one in owners)}"
