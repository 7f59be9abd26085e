"""A group of commands that imports a command's module when the command is used: starting the command line
costs what the one command needs, and `doctor` runs where a library is missing."""

import gc
import importlib
from collections import UserDict
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import click

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""New objects after which Python looks for cycles. By its default of 700, a fifth of the start and 1 % of a
crawler's time are spent on looking.
"""


class Imported(UserDict[str, Any]):
    """Commands by name, given by their places and imported when looked up."""

    def __getitem__(self, name: str) -> click.Command:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        module, _, attribute = self.data[name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


class LazyGroup(click.Group):
    """A group whose commands are given by their places, each `module:attribute`."""

    def __init__(
        self,
        name: str | None,
        *,
        places: Mapping[str, str],
        callback: Callable[..., None],
        help: str | None,  # noqa: A002  # click's name
        params: list[click.Parameter],
        context_settings: MutableMapping[str, object] | None = None,
    ) -> None:
        super().__init__(
            name,
            Imported(places),
            callback=callback,
            help=help,
            params=params,
            context_settings=context_settings,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command, or suggest one, without importing any."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as exc:
            raise click.NoSuchCommand(exc.command_name, possibilities=self.commands, ctx=ctx) from exc
