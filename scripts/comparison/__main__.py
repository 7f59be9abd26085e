"""Compares two data folders of firstflight value by value: releases, replays, reports, and what commands and the service said."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from scripts.comparison.documents import compare_lines, compare_pages
from scripts.comparison.line import make
from scripts.comparison.tables import compare_tables
from scripts.comparison.values import Findings, Renames

FOLDERS = ("releases", "replays", "reports", "said")
LEFT_OUT = ("SHA256SUMS", "SHA256SUMS.sig")
"""Files that follow from the others."""

SHOWN = 10
"""Differences of one file that are printed."""


def main(arguments: list[str] | None = None) -> int:
    """Compare what the command line names; 1 if a value differs, 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(prog="scripts/compare", description=__doc__)
    parser.add_argument("before", type=Path, help="a data folder, or a checkout")
    parser.add_argument(
        "after", type=Path, help="a data folder in which the same was made by other code, or its checkout"
    )
    parser.add_argument(
        "--make", type=Path, metavar="FOLDER", help="make what is compared in FOLDER, with both checkouts"
    )
    parser.add_argument(
        "--published", default=[], action="append", help="a published result to measure again, with --make"
    )
    parser.add_argument("--renames", type=Path, help="file of lines `old = new`: fields that were renamed")
    options = parser.parse_args(arguments)
    if options.make:
        old, new, folder = options.before.resolve(), options.after.resolve(), options.make.resolve()
        options.before, options.after = make(old, new, folder, tuple(options.published))
    renames = Renames.parse(options.renames.read_text(encoding="utf-8")) if options.renames else Renames()
    found = compare_folders(options.before, options.after, renames)
    if len(found) < 2:
        print(f"there is nothing to compare in {options.before}", file=sys.stderr)
        return 2
    tell(found)
    return 1 if any(one.differences for one in found.values()) else 0


def compare_folders(before: Path, after: Path, renames: Renames) -> dict[str, Findings]:
    """Compare all files of two data folders; findings by file."""
    found = {"files": Findings(renames)}
    old, new = files_in(before), files_in(after)
    renamed = {name: "/".join(renames.of(part) for part in name.split("/")) for name in old}
    found["files"].names([*renamed.values()], new, "files")
    for name in old:
        if renamed[name] in new:
            found[renamed[name]] = compare_files(before / name, after / renamed[name], renames)
    return found


def files_in(folder: Path) -> list[str]:
    """Files to compare below a data folder."""
    paths = [path for name in FOLDERS for path in sorted((folder / name).rglob("*")) if path.is_file()]
    return [path.relative_to(folder).as_posix() for path in paths if path.name not in LEFT_OUT]


def compare_files(old: Path, new: Path, renames: Renames) -> Findings:
    """Compare two files by what their kind says."""
    found = Findings(renames)
    if old.suffix == ".parquet":
        compare_tables(old, new, found)
        return found
    before, after = old.read_text(encoding="utf-8"), new.read_text(encoding="utf-8")
    if old.suffix == ".json":
        found.json(json.loads(before), json.loads(after), is_standing=old.name == "dictionary.json")
    elif old.suffix == ".html":
        compare_pages(before, after, found)
    else:
        compare_lines(before.splitlines(), after.splitlines(), found)
    return found


def tell(found: dict[str, Findings]) -> None:
    """Print a line for each file, the differences, and what was renamed or reworded."""
    for name, one in found.items():
        counted = f"{one.rows:>9,} rows {one.values:>11,} values {len(one.differences):>6,} differences"
        print(f"{'DIFFERS' if one.differences else 'equal  '} {counted}  {name}")
    for title, kind in (("DIFFERENCES", "differences"), ("FIELDS", "fields"), ("REWORDED", "reworded")):
        lines = [(name, getattr(one, kind)) for name, one in found.items() if getattr(one, kind)]
        if lines:
            print(f"\n{title}")
        for name, said in lines:
            shown = said if kind != "differences" else said[:SHOWN]
            print(name, *(f"    {line}" for line in shown), sep="\n")
            if len(said) > len(shown):
                print(f"    and {len(said) - len(shown):,} more")
    total = [sum(getattr(one, kind) for one in found.values()) for kind in ("rows", "values")]
    differences = sum(len(one.differences) for one in found.values())
    print(f"\n{len(found) - 1} files, {total[0]:,} rows, {total[1]:,} values: {differences:,} differences")


if __name__ == "__main__":
    sys.exit(main())
