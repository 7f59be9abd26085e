"""`scripts/compare` on made-up data folders: every kind of change is found, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.comparison.__main__ import main
from scripts.comparison.values import Renames

ROWS: list[dict[str, Any]] = [
    {"visit_id": 1, "ordinal": 0, "wire_bytes": 900, "ms": 1.5},
    {"visit_id": 1, "ordinal": 1, "wire_bytes": None, "ms": 2.5},
    {"visit_id": 2, "ordinal": 0, "wire_bytes": 700, "ms": float("nan")},
]

REPORT = {
    "commit": "aaaa",
    "sizes": [{"id": "page", "percent": 12.5}, {"id": "response", "percent": 80.0}],
    "answer": "iw10",
    "reasons": ["the gain is 3.1 %"],
    "glossary": {"segment": "a TCP segment of 1430 bytes"},
}

PAGE = (
    "<p>the gain is <b>3.1 %</b></p><style>p {}</style>"
    '<svg><path d="M0,0L10,20" aria-label="a line of points"></path><text>IW 10</text></svg>'
)


def write_rows(
    path: Path, rows: list[dict[str, Any]], kind: pa.DataType | None = None, name: str = "ms"
) -> None:
    schema = pa.schema(
        [
            pa.field("visit_id", pa.int64(), nullable=False, metadata={"comment": "the visit"}),
            ("ordinal", pa.int32()),
            ("wire_bytes", kind or pa.int64()),
            (name, pa.float64()),
        ]
    )
    table = pa.Table.from_pylist(
        [{name if key == "ms" else key: row[key] for key in row} for row in rows], schema=schema
    )
    pq.write_table(table, path)


@pytest.fixture
def before(tmp_path: Path) -> Path:
    folder = tmp_path / "before"
    for name in ("releases/v1", "reports/2026"):
        (folder / name).mkdir(parents=True)
    write_rows(folder / "releases/v1/response.parquet", ROWS)
    (folder / "releases/v1/SHA256SUMS").write_text("before")
    (folder / "reports/2026/report.json").write_text(json.dumps(REPORT))
    (folder / "reports/2026/index.html").write_text(PAGE)
    (folder / "reports/2026/summary.txt").write_text("The gain is 3.1 %.\nNothing else.\n")
    return folder


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Path:
    return shutil.copytree(before, tmp_path / "after")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def changed(place: int, **values: Any) -> Callable[[Path], None]:
    """Change a row of the table."""
    rows = [row | values if number == place else row for number, row in enumerate(ROWS)]
    return lambda folder: write_rows(folder / "releases/v1/response.parquet", rows)


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Change a file of the report."""
    return lambda folder: edit(folder / "reports/2026" / name, old, new)


def compare(before: Path, after: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main([str(before), str(after), *options])
    return code, capsys.readouterr().out


def test_equal_folders_are_equal_and_rows_and_values_are_counted(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (after / "releases/v1/SHA256SUMS").write_text("of another build")
    code, said = compare(before, after, capsys)
    assert code == 0
    assert (
        "equal           3 rows          13 values      0 differences  releases/v1/response.parquet" in said
    )
    assert said.endswith(": 0 differences\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed(0, wire_bytes=901), "row [1, 0], wire_bytes: 900 is now 901"),
        (changed(1, wire_bytes=0), "row [1, 1], wire_bytes: None is now 0"),
        (changed(2, ms=0.0), "row [2, 0], ms: nan is now 0.0"),
        (lambda folder: write_rows(folder / "releases/v1/response.parquet", ROWS[1:]), "row [1, 0] is missing"),
        (
            lambda folder: write_rows(folder / "releases/v1/response.parquet", [*ROWS, {**ROWS[0], "visit_id": 3}]),
            "row [3, 0] was not there",
        ),
        (lambda folder: write_rows(folder / "releases/v1/response.parquet", ROWS[::-1]), "rows: they come in another order"),
        (
            lambda folder: write_rows(folder / "releases/v1/response.parquet", ROWS, pa.int32()),
            "wire_bytes: type int64 is now int32",
        ),
        (
            lambda folder: write_rows(folder / "releases/v1/response.parquet", ROWS, name="time_ms"),
            "columns: removed ms",
        ),
        (lambda folder: (folder / "releases/v1/response.parquet").unlink(), "files: removed releases/v1/response.parquet"),
        (lambda folder: (folder / "reports/2026/new.csv").touch(), "files: added reports/2026/new.csv"),
        (edited("report.json", "12.5", "12.6"), ".sizes[id].page.percent: 12.5 is now 12.6"),
        (edited("report.json", "80.0", "80"), ".sizes[id].response.percent: 80.0 is now 80"),
        (edited("report.json", "iw10", "none"), ".answer: 'iw10' is now 'none'"),
        (edited("report.json", "3.1 %", "3.2 %"), "'the gain is 3.1 %' is now 'the gain is 3.2 %'"),
        (edited("report.json", '"percent": 12.5', '"share": 12.5'), ": added share"),
        (edited("index.html", "10,20", "10,21"), "'path d: M0,0L10,20' is now 'path d: M0,0L10,21'"),
        (edited("index.html", "IW 10", "IW 16"), "'text IW 10' is now 'text IW 16'"),
        (edited("index.html", "3.1 %", "3 %"), "'3.1 %' is now '3 %'"),
        (edited("summary.txt", "3.1", "31"), "'The gain is 3.1 %.' is now 'The gain is 31 %.'"),
    ],
)  # fmt: skip
def test_a_change_is_found(
    change: Callable[[Path], None], said: str, before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(after)
    code, told = compare(before, after, capsys)
    assert code == 1
    assert said in told


def test_the_code_s_commit_and_the_words_of_texts_may_differ_and_words_are_listed(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(after / "reports/2026/report.json", "aaaa", "bbbb")
    edit(after / "reports/2026/report.json", "a TCP segment of 1430 bytes", "one full TCP segment")
    edit(after / "reports/2026/report.json", "the gain is 3.1 %", "pages gain 3.1 %")
    edit(after / "reports/2026/index.html", "the gain is", "pages gain")
    edit(after / "reports/2026/summary.txt", "Nothing else", "That is all")
    code, said = compare(before, after, capsys)
    assert code == 0
    reworded = said.partition("REWORDED")[2]
    for words in (
        "one full TCP segment",
        "pages gain 3.1 %",
        "'the gain is' is now 'pages gain'",
        "That is all",
    ):
        assert words in reworded


def test_fields_may_be_renamed_where_that_is_declared(
    before: Path, after: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(after / "releases/v1/response.parquet", ROWS, name="time_ms")
    edit(after / "reports/2026/report.json", '"answer": "iw10"', '"rule": "iw10"')
    edit(after / "reports/2026/report.json", '"page"', '"home_page"')
    names = tmp_path / "renames"
    names.write_text("ms = time_ms\nanswer = rule\n\n# a measure\npage = home_page\n")
    code, said = compare(before, after, capsys, "--renames", str(names))
    assert (code, "columns: ms is named time_ms" in said) == (0, True)
    write_rows(after / "releases/v1/response.parquet", [ROWS[0] | {"ms": 9.0}, *ROWS[1:]], name="time_ms")
    code, said = compare(before, after, capsys, "--renames", str(names))
    assert (code, "row [1, 0], time_ms: 1.5 is now 9.0" in said) == (1, True)


def test_a_name_may_be_kept_in_a_table_and_changed_in_a_report(
    before: Path, after: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(before / "reports/2026/report.json", '"answer"', '"ms"')
    edit(after / "reports/2026/report.json", '"answer"', '"time_ms"')
    (tmp_path / "renames").write_text("ms = time_ms\n")
    code, said = compare(before, after, capsys, "--renames", str(tmp_path / "renames"))
    assert (code, ": ms is named time_ms" in said) == (0, True)


def test_how_long_a_replay_took_may_differ(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(before / "reports/2026/summary.txt", "Nothing else.", "Replayed 900 s of page loads in 30 s.")
    edit(after / "reports/2026/summary.txt", "Nothing else.", "Replayed 900 s of page loads in 31 s.")
    assert compare(before, after, capsys)[0] == 0
    edit(after / "reports/2026/summary.txt", "900 s", "901 s")
    assert compare(before, after, capsys)[0] == 1


def test_a_line_of_a_renames_file_has_two_sides() -> None:
    assert Renames.parse("gone =\n= new\n") == Renames(removed=frozenset({"gone"}), added=frozenset({"new"}))
    with pytest.raises(ValueError, match="not of the form `old = new`: a b"):
        Renames.parse("a b")


def test_empty_folders_prove_nothing(tmp_path: Path) -> None:
    assert main([str(tmp_path), str(tmp_path)]) == 2
