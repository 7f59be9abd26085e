"""`scripts/circles.py` on made-up files: every circle is found, and only circles."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from replay.lab.player import GUEST
from scripts.circles import PYPROJECT, c_graph, circles, main, our_packages, python_graph

ROOT = PYPROJECT.parent


def lines(graph: dict[str, set[str]]) -> list[str]:
    return [" -> ".join(circle) for circle in circles(graph)]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def python_circles(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> list[str]:
    write(folder / "made_up", files)
    monkeypatch.syspath_prepend(folder)
    return lines(python_graph(["made_up"]))


def c_circles(folder: Path, files: dict[str, str]) -> list[str]:
    write(folder, files)
    return lines(c_graph(folder, sorted(folder.rglob("*.[ch]"))))


def test_a_chain_is_no_circle() -> None:
    assert lines({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_a_circle_is_a_line_in_the_direction_of_use() -> None:
    (line,) = lines({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert line in {"a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c"}


def test_two_circles_are_two_lines_also_where_they_share_a_file() -> None:
    assert len(lines({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}})) == 2
    assert len(lines({"a": {"b", "c"}, "b": {"a"}, "c": {"a"}})) == 2


def test_imports_for_type_checking_and_within_functions_close_a_circle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "__init__.py": "",
        "inner/__init__.py": "",
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made_up.b import B\n",
        "b.py": "def f():\n    from made_up.inner import c\n",
        "inner/c.py": "import made_up.a\n",
    }
    (line,) = python_circles(tmp_path, monkeypatch, files)
    assert set(line.split(" -> ")) == {"made_up.a", "made_up.b", "made_up.inner.c"}


def test_modules_that_import_downwards_are_no_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "__init__.py": "",
        "a.py": "from made_up import b, c",
        "b.py": "from made_up.c import C",
        "c.py": "C = 1",
    }
    assert python_circles(tmp_path, monkeypatch, files) == []


def test_every_python_file_of_ours_is_looked_at() -> None:
    packages = our_packages()
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        if path.parent != GUEST  # programs of the guest's own Python
        if path.stem.isidentifier()  # nothing can import a migration
    }
    assert files - set(python_graph(packages)) == set()


HEADER = "#pragma once\n"


def test_c_files_whose_headers_include_downwards_are_no_circle(tmp_path: Path) -> None:
    files = {
        "a.h": HEADER + "int a(void);\n",
        "a.c": '#include "a.h"\n#include "low/b.h"\nint a(void) { return b(); }\n',
        "low/b.h": HEADER + "int b(void);\n",
        "low/b.c": '#include "low/b.h"\nint b(void) { return 1; }\n',
    }
    assert c_circles(tmp_path, files) == []


def test_a_c_file_and_a_header_that_include_each_other_s_headers_are_a_circle(tmp_path: Path) -> None:
    files = {
        "a.h": HEADER + '#include "b.h"\nint a(void);\n',
        "a.c": '#include "a.h"\nint a(void) { return 1; }\n',
        "b.h": HEADER + "int b(void);\n",
        "b.c": '#include "b.h"\n#include "a.h"\nint b(void) { return 1; }\n',
    }
    assert c_circles(tmp_path, files) in (["a -> b -> a"], ["b -> a -> b"])


@pytest.mark.parametrize(
    ("declared", "a", "b"),
    [
        ("int a(void);\nint b(void);\n", "int a(void) { return b(); }\n", "int b(void) { return a(); }\n"),
        (
            "extern int a;\nint b(void);\n",
            "int a;\nint c(void) { return b(); }\n",
            "int b(void) { return a; }\n",
        ),
    ],
    ids=["functions", "a variable"],
)
def test_files_that_use_each_other_through_one_common_header_are_a_circle(
    tmp_path: Path, declared: str, a: str, b: str
) -> None:
    files = {
        "all.h": HEADER + declared + "int c(void);\n",
        "a.c": '#include "all.h"\n' + a,
        "b.c": '#include "all.h"\n' + b,
    }
    assert c_circles(tmp_path, files) in (["a -> b -> a"], ["b -> a -> b"])


@pytest.mark.parametrize("text", ["int f(void) { return g(); }\n", "int f(void) { return 1; }\n"])
def test_what_no_header_declares_does_not_compile(tmp_path: Path, text: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        c_circles(tmp_path, {"a.c": text})


def test_a_question_that_it_does_not_know_is_answered_with_the_usage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fortran"]) == 2
    assert "python -m scripts.circles" in capsys.readouterr().err
