"""Errors of commands: one line on standard error and a non-zero exit code."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import click

from firstflight.checks import check_writable
from firstflight.settings import Settings

UNWRITABLE = (errno.EACCES, errno.EEXIST, errno.ENOTDIR, errno.EPERM, errno.EROFS)

GO_ON = "the same command goes on from there"

AGAIN = 75
"""Exit code of a command that should be run again later: EX_TEMPFAIL of sysexits.h."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as a shell's."""


class Stopped(click.ClickException):
    """The command was stopped by Ctrl-C; the message says what is kept, and how to continue."""

    exit_code = INTERRUPTED

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._lines = [f"stopped: {message}", *still_running()]  # now: later the settings are not known

    def show(self, _file: object = None) -> None:
        click.echo("\n".join(self._lines), err=True)


def still_running() -> Iterator[str]:
    settings = _settings()
    if settings is None or settings.database_url is not None:
        return
    from firstflight.connect import embedded_folder  # its libraries may be missing where `doctor` runs
    from storage import embedded

    if embedded.postmaster(embedded_folder(settings)) is not None:
        yield (
            f"PostgreSQL still runs in {embedded_folder(settings)}, for the next command; "
            "`firstflight database stop` ends it"
        )


@contextlib.contextmanager
def one_line(*expected: type[Exception]) -> Iterator[None]:
    """Report expected errors in one line, with exit code 1; other errors are bugs."""
    try:
        yield
    except expected as exc:
        raise click.ClickException(describe_unwritable(exc) or " ".join(str(exc).split())) from exc


def describe_unwritable(exc: BaseException | None) -> str | None:
    """Say in the words of `doctor` that the data or cache folder cannot be written."""
    settings = _settings()
    while settings is not None and exc is not None:
        if isinstance(exc, OSError) and exc.errno in UNWRITABLE and exc.filename is not None:
            path = Path(os.fsdecode(exc.filename))
            for name, folder in (("data", settings.data_dir), ("cache", settings.cache_dir)):
                if folder in path.parents or path in (folder, *folder.parents):
                    finding = check_writable(name, path.parent if folder in path.parents else folder)
                    if finding.state == "missing":
                        return f"{finding.found}: {finding.remedy}"
        exc = exc.__cause__
    return None


def _settings() -> Settings | None:
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Settings)
