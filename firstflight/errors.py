"""The one way in which a command says that it failed: a line, and an exit code that means something."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def one_line(*expected: type[Exception]) -> Iterator[None]:
    """Turn the expected errors into one line on standard error and exit code 1; anything else is a bug."""
    try:
        yield
    except expected as exc:
        raise click.ClickException(" ".join(str(exc).split())) from exc
