"""`firstflight replay run` on a release or on recordings."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from firstflight.main import main
from firstflight.settings import from_environment
from tests.factories.made_up_recording import write_har

ROUND_TRIP_MS = 66
"""Round trip of the profile avgdc-2010-mid."""
THINK_MS = 78 + 2 * ROUND_TRIP_MS + 100 - (178 + ROUND_TRIP_MS)
"""How much later the page ends by think times after the document.

The script leads to a response after 78 ms, over a new connection and with 100 ms of think time. Another waits
for the script, is asked for 178 ms later over a connection that is there, and ends the page where servers
answer at once. So it is, too, where the script comes from the cache.
"""


@pytest.fixture
def har(tmp_path: Path) -> Path:
    return write_har(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "give either --crawl, or --recorded, or recordings"),
        (["--recorded", "--har", "HAR"], "give either --crawl, or --recorded, or recordings"),
        (["--crawl", "2026-11", "--har", "HAR"], "give either --crawl, or --recorded, or recordings"),
        (["--har", "absent.har"], "does not exist"),
        (["--cdp", "HAR"], "is a HAR"),
    ],
)
def test_a_run_takes_a_release_or_recordings(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    words = [word.replace("HAR", str(har)) for word in arguments]
    done = CliRunner().invoke(main, ["replay", "run", *words])
    assert done.exit_code != 0
    assert complaint in done.output


@pytest.mark.lab
def test_a_recordings_page_is_replayed_cold_and_warm(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = str(from_environment().cache_dir)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FIRSTFLIGHT_CACHE_DIR", cache)
    words = ["--har", str(har), "--cache", "cold,warm", "--think", "none,recorded"]
    words += ["--iw", "10", "--seeds", "1", "--profiles", "avgdc-2010-mid", "--responses", "--json"]
    done = CliRunner().invoke(main, ["replay", "run", *words])
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "replays").iterdir()
    rows = {(row["cache"], row["think"]): row for row in pq.read_table(folder / "cells.parquet").to_pylist()}
    assert {name: row["responses"] for name, row in rows.items() if name[1] == "none"} == {
        ("cold", "none"): 4,
        ("warm", "none"): 3,
    }
    for cache_state in ("cold", "warm"):
        none, recorded = rows[cache_state, "none"], rows[cache_state, "recorded"]
        # The document's 100 ms, less 20 for the rest of its first TLS record.
        assert recorded["document_ms"] - none["document_ms"] == pytest.approx(80, rel=0.02)
        assert recorded["page_ms"] - none["page_ms"] == pytest.approx(80 + THINK_MS, rel=0.02)
    assert pq.read_table(folder / "responses.parquet").num_rows == 2 * (4 + 3)
    facts = json.loads((folder / "replay.json").read_text())
    assert "release" not in facts
    assert [one["file"] for one in facts["recordings"]] == ["page.har.gz"]
    assert (facts["recipes"]["objects"], facts["recipes_warm"]["objects"]) == (4, 3)
