"""Putting a folder in its place whole, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def put_in_place(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place once the block has filled it, and not otherwise."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    old = stage.with_name(f"{stage.name}-old")
    try:
        yield stage
        stage.chmod(0o755)  # mkdtemp's is ours alone, and a server may be somebody else
        if folder.exists():
            folder.rename(old)
        stage.rename(folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
