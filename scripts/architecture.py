"""Writes docs/architecture.md: the packages, their purposes, and the way of the data between them, read from the imports.

python -m scripts.architecture            write the page
python -m scripts.architecture --check    exit with 1 if the page is not what the imports say
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/architecture.md"

STORES = {
    "playwright": "Chromium, by Playwright",
    "sqlalchemy": "PostgreSQL, by SQLAlchemy",
    "duckdb": "Parquet, by DuckDB",
    "altair": "figures, by Altair",
    "fastapi": "HTTP, by FastAPI",
}
"""Libraries at the edges of the picture, and what each of them reaches."""

Edges = set[tuple[str, str]]

TEXT = """# Architecture

This page is written by `python -m scripts.architecture` from the imports of the code; `scripts/lint` checks that it is current.

An arrow leads from a package to each package that imports it: facts flow along the arrows, from the web to the report. An arrow is
left out where a longer way says the same. import-linter holds the layers: `{layers}`.
Airflow imports none of the packages: `dags/` names commands of `firstflight`, and their order.

```mermaid
flowchart LR
{picture}
```

| package | purpose |
|---|---|
{table}
"""


def settings() -> tuple[list[str], list[str]]:
    """Names of the packages, and the layers from the top, as pyproject.toml has them."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in tool["contracts"] if one["type"] == "layers")
    return tool["root_packages"], layers


def imports(packages: list[str]) -> Edges:
    """Pairs (imported, importer) of packages, with the libraries of STORES among the imported."""
    graph = grimp.build_graph(*packages, include_external_packages=True)
    for package in packages:
        graph.squash_module(package)
    return {
        (imported, package)
        for package in packages
        for imported in graph.find_modules_directly_imported_by(package)
        if imported in packages or imported in STORES
    }


def reduced(edges: Edges) -> Edges:
    """The edges without those that a longer way makes superfluous."""

    def reachable(start: str, without: tuple[str, str]) -> set[str]:
        found, left = {start}, [start]
        while left:
            here = left.pop()
            new = {to for one, to in edges if one == here and (one, to) != without} - found
            found |= new
            left += new
        return found

    return {edge for edge in edges if edge[1] not in reachable(edge[0], edge)}


def picture(packages: list[str], edges: Edges) -> Iterator[str]:
    """Lines of a Mermaid flowchart."""
    inner = reduced({edge for edge in edges if edge[0] in packages})
    outer = {edge for edge in edges if edge[0] in STORES}
    for library in sorted({library for library, _ in outer}):
        yield f'    {library}[("{STORES[library]}")]'
    for package in packages:
        yield f'    {package}["{package}/"]'
    for start, end in sorted(inner):
        yield f"    {start} --> {end}"
    for library, package in sorted(outer):
        yield f"    {library} -.- {package}"


def purposes(packages: Iterable[str]) -> Iterator[str]:
    """A row for each package and each package below it, with the first line of its docstring."""
    for package in packages:
        for file in sorted((ROOT / package).rglob("__init__.py")):
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            yield f"| `{file.parent.relative_to(ROOT)}/` | {said.splitlines()[0]} |"


def page() -> str:
    """The whole page."""
    packages, layers = settings()
    lines = "\n".join(picture(packages, imports(packages)))
    return TEXT.format(layers=" > ".join(layers), picture=lines, table="\n".join(purposes(packages)))


def main() -> None:
    """Write the page, or check it."""
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif page() != PAGE.read_text(encoding="utf-8"):
        sys.exit("docs/architecture.md is not what the imports say: run `python -m scripts.architecture`")


if __name__ == "__main__":
    main()
