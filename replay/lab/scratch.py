"""Temporary folders for the files and memory of guests; folders of killed processes are removed later."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from replay.errors import LabMissing
from storage.staging import locked_folder

PREFIX = ".firstflight-guest-"

FOLDERS = ("/dev/shm", "/var/tmp")  # noqa: S108  # a folder of our own is made below them


@contextlib.contextmanager
def guest_scratch() -> Iterator[Path]:
    """Make a folder that allows executable memory: the guest's RAM is a file in it."""
    with locked_folder(guest_folder(), prefix=PREFIX) as folder:
        yield folder


def guest_folder() -> Path:
    return executable_folder([*map(Path, FOLDERS), Path(tempfile.gettempdir())])


def executable_folder(candidates: list[Path]) -> Path:
    """Return the first folder that is writable, allows exec and has 1 GB."""
    for folder in candidates:
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            continue
        facts = os.statvfs(folder)
        if not facts.f_flag & os.ST_NOEXEC and facts.f_bavail * facts.f_frsize > 1 << 30:
            return folder
    named = ", ".join(map(str, candidates))
    raise LabMissing(f"no folder with 1 GB of room that allows exec among {named}: point TMPDIR at one")
