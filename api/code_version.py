"""The version of the code that computes answers.

It is part of every ETag: other code may answer with other bytes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.resources
from importlib.resources.abc import Traversable

LIBRARIES = ("fastapi", "jinja2", "markdown-it-py", "mdit-py-plugins", "numpy", "pyarrow", "pydantic")
"""Libraries that influence the bytes of an answer."""


@functools.cache
def code_version() -> str:
    """SHA-256 over the packages that answers come from and the versions of libraries, when first asked."""
    digest = hashlib.sha256()
    for name in LIBRARIES:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for package in ("api", "docs", "releases", "schema", "storage"):
        _add(digest, importlib.resources.files(package))
    return digest.hexdigest()


def _add(digest: hashlib._Hash, folder: Traversable) -> None:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _add(digest, entry)
        elif entry.is_file():
            content = entry.read_bytes()
            digest.update(f"{entry.name} {len(content)}\n".encode() + content)
