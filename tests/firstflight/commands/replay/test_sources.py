"""`firstflight replay run` on a release or on recordings."""

import dataclasses
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from firstflight.commands.replay.sources import find_source, leave_out_sites
from firstflight.main import main
from firstflight.recorded import import_once
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
    ("pages", "complaint"),
    [
        ("[]", "pages: name recordings"),
        ("absent.har", "absent.har"),
        ("HAR,page.txt", "pages: recordings end in .har"),
        ("2026-11", "no release of crawl"),
    ],
)
def test_pages_that_are_none_are_one_line(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pages: str, complaint: str
) -> None:
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    given = f"pages={pages.replace('HAR', str(har))}"
    done = CliRunner().invoke(main, ["replay", "run", "har", "--set", given])
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert complaint in done.output


@pytest.mark.process
def test_pages_that_confirm_are_of_sites_that_the_others_do_not_have(tmp_path: Path) -> None:
    settings = dataclasses.replace(from_environment(), data_dir=tmp_path)
    import_once(settings)
    august = find_source(settings, "recorded")
    half = dataclasses.replace(august, names={visit: f"{visit % 2}" for visit in august.names})
    left = leave_out_sites(settings, dataclasses.replace(half, folder="other"), "recorded")
    assert len(left.recipes) == len(august.recipes)
    assert left.facts["confirms"] == august.facts["release"]
    with pytest.raises(ValueError, match="every site"):
        leave_out_sites(settings, august, "recorded")
    one = min(august.names)
    mixed = dataclasses.replace(
        august, names={**dict.fromkeys(august.names, "elsewhere"), one: august.names[one]}
    )
    assert {recipe.visit_id for recipe in leave_out_sites(settings, mixed, "recorded").recipes} == {
        visit for visit in august.names if visit != one
    }


@pytest.mark.lab
def test_a_recordings_page_is_replayed_cold_and_warm(
    har: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = str(from_environment().cache_dir)
    monkeypatch.setenv("FIRSTFLIGHT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FIRSTFLIGHT_CACHE_DIR", cache)
    words = [f"pages={har}", "candidates=[]", "seeds=1", "networks=avgdc-2010-mid", "responses=true"]
    words += ["conditions.warm_cache=[false, true]", "conditions.server_delay=[false, true]"]
    given = [option for word in words for option in ("--set", word)]
    done = CliRunner().invoke(main, ["replay", "run", "har", *given, "--json"])
    assert done.exit_code == 0, done.output
    (folder,) = (tmp_path / "data" / "replays").glob("recordings-*/stage-01")
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
    facts = json.loads((folder / "stage.json").read_text())["plan"]
    assert "release" not in facts
    assert [recording["file"] for recording in facts["recordings"]] == ["page.har.gz"]
    assert (facts["recipes"]["objects"], facts["recipes_warm"]["objects"]) == (4, 3)
