"""What a report says of its instrument is what the studies and reproductions found."""

import csv
import re
from pathlib import Path

import pytest

from reports.sections.instrument import CHECKS

ROOT = Path(__file__).parents[3]
RESULT = {check.id: check.result for check in CHECKS}


def test_the_checks_beside_chromium_are_those_of_the_study() -> None:
    with (ROOT / "studies/page_loads/errors.csv").open(encoding="utf-8") as file:
        errors = [float(row["median_error"]) for row in csv.DictReader(file) if row["time"] == "page"]
    with (ROOT / "studies/page_loads/gains.csv").open(encoding="utf-8") as file:
        gains = [abs(float(row["gain_chromium"]) - float(row["gain_replay"])) for row in csv.DictReader(file)]
    assert f"median error of page time {min(errors):.0%} to {max(errors):.0%}".replace("% ", " ").replace(
        "%", " %"
    ) in RESULT["chromium"].replace("\u202f", " ")
    assert (
        f"within 3 percentage points in {sum(gain <= 0.03 for gain in gains)} of {len(gains)}"
        in RESULT["chromium"]
    )


@pytest.mark.parametrize("name", [check.id for check in CHECKS if check.source.endswith("reproduction.md")])
def test_other_results_are_those_of_the_reproductions(name: str) -> None:
    text = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{name}"))
    outcome = row.rstrip(" |").rpartition("| ")[2]
    failed = re.fullmatch(r"not reproduced: (\d+) of (\d+) checks failed", outcome)
    result = f"{int(failed[2]) - int(failed[1])} of {failed[2]} checks reproduced" if failed else outcome
    assert RESULT[name] == result
