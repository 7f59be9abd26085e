"""Find circles of imports between Python files, or of use between the C files of the guest's player.

    python -m scripts.circles python    imports between all files of ours, those for type checking included
    python -m scripts.circles c         includes, and symbols defined elsewhere; a .c and its .h count as one file

Prints each circle as `a -> b -> a`, and exits with status 1 if there is any.
"""

from __future__ import annotations

import graphlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import grimp

from replay.lab.player import COMPILE, GUEST, sources

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
BESIDE_THE_PRODUCT = ["benchmarks", "dags", "scripts", "tests"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)

Graph = dict[str, set[str]]
"""For each file those that it uses."""


def our_packages() -> list[str]:
    """Names of the wheel's packages and of the folders beside them."""
    product: list[str] = tomllib.loads(PYPROJECT.read_text())["tool"]["uv"]["build-backend"]["module-name"]
    return product + BESIDE_THE_PRODUCT


def python_graph(packages: Sequence[str]) -> Graph:
    """Imports between the files of importable packages."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def c_graph(folder: Path, files: Sequence[Path]) -> Graph:
    """Use between C files and headers, which include each other by their paths in `folder`.

    Includes alone would miss files that call each other through one common header: the object files' symbols tell.
    """
    graph: Graph = {name_of(folder, path): set() for path in files}
    defined: dict[str, str] = {}
    undefined: dict[str, set[str]] = {}
    for path in files:
        name = name_of(folder, path)
        graph[name] |= {str(Path(used).with_suffix("")) for used in INCLUDE.findall(path.read_text())}
        if path.suffix == ".c":
            own, undefined[name] = symbols(folder, path)
            defined |= dict.fromkeys(own, name)
    for name, needed in undefined.items():
        graph[name] |= {defined[symbol] for symbol in needed if symbol in defined}
    return {name: used - {name} for name, used in graph.items()}


def name_of(folder: Path, path: Path) -> str:
    """Path in `folder` without suffix."""
    return str(path.relative_to(folder).with_suffix(""))


def symbols(folder: Path, path: Path) -> tuple[set[str], set[str]]:
    """Symbols that a C file defines for others, and those that it needs from others; every warning is an error."""
    with tempfile.TemporaryDirectory() as scratch:
        made = f"{scratch}/object"
        subprocess.run([*COMPILE, "-I", str(folder), "-c", str(path), "-o", made], check=True)
        listed = subprocess.run(["nm", "-g", "-P", made], check=True, capture_output=True, text=True).stdout
    kinds = [line.split()[:2] for line in listed.splitlines()]
    return {name for name, kind in kinds if kind != "U"}, {name for name, kind in kinds if kind == "U"}


def circles(graph: Graph) -> Iterator[list[str]]:
    """Circles whose first steps, taken away, leave a graph without any; none shares its first step with another."""
    left = {node: set(graph[node]) for node in sorted(graph)}
    while True:
        try:
            graphlib.TopologicalSorter({node: sorted(used) for node, used in left.items()}).prepare()
        except graphlib.CycleError as exc:
            circle: list[str] = exc.args[1][::-1]  # graphlib names a dependency before what depends on it
            yield circle
            left[circle[0]].discard(circle[1])
        else:
            return


def main(arguments: Sequence[str]) -> int:
    """Print the circles of the graph that the argument names."""
    match arguments:
        case ["python"]:
            graph = python_graph(our_packages())
        case ["c"]:
            graph = c_graph(GUEST, sources())
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    found = list(circles(graph))
    for circle in found:
        print(" -> ".join(circle))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
