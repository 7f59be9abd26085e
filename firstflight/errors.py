"""Errors of commands: one line on standard error and a non-zero exit code."""

import contextlib
from collections.abc import Iterator

import click


@contextlib.contextmanager
def one_line(*expected: type[Exception]) -> Iterator[None]:
    """Report expected errors as one line on standard error with exit code 1;
    other errors are bugs and pass."""
    try:
        yield
    except expected as exc:
        raise click.ClickException(" ".join(str(exc).split())) from exc
