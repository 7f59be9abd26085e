"""The picture and the rooms of docs/architecture.md: `python -m tests.docs.architecture` writes both,
from the imports and from the first lines of the packages' docstrings."""

import ast
import itertools
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- packages: begin -->\n", "<!-- packages: end -->\n"

LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
PACKAGES = [name.strip() for layer in LINTER["contracts"][0]["layers"][::-1] for name in layer.split("|")]
"""From facts to conclusions."""

LIBRARIES = {
    "playwright": "Chromium, by Playwright",
    "sqlalchemy": "PostgreSQL, by SQLAlchemy",
    "duckdb": "Parquet, by DuckDB",
    "altair": "figures, by Altair",
    "fastapi": "HTTP, by FastAPI",
}
"""Libraries that reach something outside of Python, and what they reach."""


def describe() -> str:
    return f"{_picture(imports())}\n{_rooms()}"


def imports() -> set[tuple[str, str]]:
    """Return each package or library with each package that imports it."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)
    pairs = {
        (imported.partition(".")[0], module.partition(".")[0])
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    }
    return {pair for pair in pairs if pair[0] != pair[1] and pair[0] in {*PACKAGES, *LIBRARIES}}


def without_shortcuts(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out pairs for which a longer way leads from the first to the second."""
    reached = set(pairs)
    for middle, first, last in itertools.product({name for pair in pairs for name in pair}, repeat=3):
        if {(first, middle), (middle, last)} <= reached:
            reached.add((first, last))
    by_way = {(first, last) for first, middle in pairs for start, last in reached if start == middle}
    return pairs - by_way


def _picture(pairs: set[tuple[str, str]]) -> str:
    between = {pair for pair in pairs if pair[0] in PACKAGES}
    lines = [
        "```mermaid",
        "flowchart LR",
        *(f'    {name}[("{text}")]' for name, text in LIBRARIES.items()),
        *(f'    {name}["{name}/"]' for name in PACKAGES),
        *(f"    {imported} --> {by}" for imported, by in sorted(without_shortcuts(between))),
        *(f"    {library} -.- {by}" for library, by in sorted(pairs - between)),
        "```",
    ]
    return "\n".join([*lines, ""])


def _rooms() -> str:
    rows = [f"| `{name}/` | {sentence} |" for name, sentence in _sentences()]
    return "\n".join(["| folder | content |", "|---|---|", *rows, ""])


def _sentences() -> Iterator[tuple[str, str]]:
    """Yield each package and its parts with the first line of its docstring."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("__init__.py")):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            first, _, _ = docstring.partition("\n\n")
            yield path.parent.relative_to(ROOT).as_posix(), " ".join(first.split())


def written(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{describe()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
