"""A folder for the temporary files of a process and its children.

It is removed when the process ends, or at the latest when another one makes its own.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from storage.staging import locked_folder

PREFIX = ".firstflight-scratch-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a folder for everything temporary of this process (tempfile.tempdir) and of its children
    (TMPDIR, which Playwright's driver reads).
    """
    with locked_folder(Path(tempfile.gettempdir()), prefix=PREFIX) as folder:
        before = os.environ.get("TMPDIR")
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
        try:
            yield folder
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before
