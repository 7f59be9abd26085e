"""Write a study's results as CSV."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_table(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
