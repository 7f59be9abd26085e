"""Bounds on folders, files, functions and exception handlers, which keep the tree readable."""

from __future__ import annotations

import ast
import collections
import itertools
import statistics
import subprocess
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.process


ROOT = Path(__file__).parents[1]

FILES_A_FOLDER = 20
LINES_A_FILE = 300
MEDIAN_LINES_A_FILE = 120
LINES_A_FUNCTION = 60
MEDIAN_LINES_A_FUNCTION = 8

CODE = (".py", ".c", ".h", ".sh", ".html", ".j2", ".css", ".lua", ".js")
LONG = ("schema/tables.py", "schema/migrations/versions/")
"""The declaration of the tables, and migrations, which nobody shortens afterwards."""

PUBLISHED = "docs/edition-"
"""Reports as they were published: made by the code, and never edited."""


@cache
def files() -> list[str]:
    """Every file under version control that somebody writes."""
    call = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]  # the tree may be another user's
    listed = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    written = [name for name in listed.stdout.splitlines() if not name.startswith(PUBLISHED)]
    return [name for name in written if (ROOT / name).is_file()]


@cache
def modules() -> dict[str, ast.Module]:
    """Every Python file, parsed."""
    return {name: ast.parse((ROOT / name).read_text()) for name in files() if name.endswith(".py")}


def lines(name: str) -> int:
    return len((ROOT / name).read_text(encoding="utf-8").splitlines())


def function_lengths() -> dict[str, int]:
    """Lines of each function of the product, by file and name."""
    return {
        f"{name}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for name, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_a_folder_holds_at_most_twenty_files() -> None:
    held = collections.Counter(str(Path(name).parent) for name in files())
    assert {folder: count for folder, count in held.items() if count > FILES_A_FOLDER} == {}


def test_a_file_has_at_most_three_hundred_lines() -> None:
    code = [name for name in files() if name.endswith(CODE) and not name.startswith(LONG)]
    assert {name: lines(name) for name in code if lines(name) > LINES_A_FILE} == {}
    assert statistics.median(map(lines, code)) <= MEDIAN_LINES_A_FILE


def test_a_function_has_at_most_sixty_lines() -> None:
    found = {name: length for name, length in function_lengths().items() if not name.startswith(LONG)}
    assert {name: length for name, length in found.items() if length > LINES_A_FUNCTION} == {}
    assert statistics.median(found.values()) <= MEDIAN_LINES_A_FUNCTION


def test_no_handler_catches_every_exception() -> None:
    handlers = itertools.chain.from_iterable(
        ((name, node) for node in ast.walk(module) if isinstance(node, ast.ExceptHandler))
        for name, module in modules().items()
    )
    broad = [f"{name}:{one.lineno}" for name, one in handlers if one.type is None or names(one.type) & BROAD]
    assert broad == []


BROAD = {"Exception", "BaseException"}


def names(kind: ast.expr) -> set[str]:
    """Names of the exceptions that a handler catches."""
    return {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
