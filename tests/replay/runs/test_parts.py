"""Parts of a run and what is joined of them; the lab's answers are made up."""

import functools
import json
import random
from pathlib import Path

import pytest

from replay.errors import GuestFailed
from replay.networks.copula import PAPER_POPULATIONS
from replay.runs.calibration import CalibrationCheck
from replay.runs.cells import Cell
from replay.runs.facts import LoadsPlan, StageFacts
from replay.runs.guests import Guest, NetworkJob
from replay.runs.parts import (
    PartError,
    fault_of,
    join_parts,
    part_folders,
    parts_folder,
    plan_of,
    write_part,
)
from replay.runs.replay_folder import guest_facts, plan_facts, store_loads
from replay.runs.responses import response_tables
from replay.runs.run import ReplayResult, result_of, share_out
from storage.sums import broken_sums
from tests.replay.runs.test_run import cells, recipe
from verdict.rule import RULE

PLANNED = cells([recipe(number, size=1_000 * number) for number in (1, 2, 3, 10, 11)])


@functools.cache  # it asks dpkg for the kernel's version
def facts(commit: str = "c0ffee", checksum: str = "aa") -> LoadsPlan:
    source: LoadsPlan = {
        "release": {"crawl": "2026-11.desktop.local.tcp.web", "version": 1, "checksum": checksum}
    }
    return plan_facts(
        PLANNED, source, commit=commit, rule_version=RULE.version, populations=PAPER_POPULATIONS
    )


def guest_of(share: list[Cell], number: int) -> Guest:
    (network,) = {cell.network for cell in share}
    answers = {
        cell.id: {"page_ns": cell.random_state % 10**10, "each": [[0, 1, 2, 3, cell.policy.window, 0]]}
        for cell in share
    }
    job = NetworkJob(profile=network, flights=[], cells=share, answers=answers)
    failure = GuestFailed("a guest said nothing for 120 s", "its log") if number == 2 else None
    return Guest(jobs=[job], recipes=[], origins=1, failure=failure, offloads_on=0)


def replayed(shares: list[list[Cell]], numbers: list[int]) -> ReplayResult:
    guests = [guest_of(share, number) for share, number in zip(shares, numbers, strict=True)]
    if 1 in numbers:  # that it failed at once, and another took its cells
        guests.insert(0, Guest(jobs=[], recipes=[], origins=1))
    return result_of(guests, programs={"kernel": "ab" * 32})


@pytest.fixture(autouse=True)
def one_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single calibration check, which every job passes."""
    check = CalibrationCheck("RTT", 1, expected=1, tolerance=0.1)
    monkeypatch.setattr("replay.runs.run.calibration_checks", lambda *_args, **_named: [check])


def write_whole(folder: Path, guests: int) -> None:
    result = replayed(share_out(PLANNED, guests), list(range(1, guests + 1)))
    whole: StageFacts = {"plan": plan_of(facts(), PLANNED, responses=True), **guest_facts(result)}
    store_loads(folder, "stage", result.table, whole, response_tables(result))


def write_all(folder: Path, total: int, *, responses: bool = False) -> LoadsPlan:
    common = plan_of(facts(), PLANNED, responses=responses)
    shares = share_out(PLANNED, total)
    for number, (share, place) in enumerate(zip(shares, part_folders(folder, total), strict=True), start=1):
        write_part(place, replayed([share], [number]), common)
    return common


@pytest.mark.parametrize("total", [1, 2, 3, 5])
def test_joined_parts_are_to_the_byte_what_as_many_guests_of_one_run_would_leave(
    tmp_path: Path, total: int
) -> None:
    write_whole(tmp_path / "whole", total)
    common = write_all(tmp_path / "joined", total, responses=True)
    join_parts(tmp_path / "joined", common, total)
    whole, joined = tmp_path / "whole", tmp_path / "joined"
    assert sorted(path.name for path in joined.iterdir()) == sorted(path.name for path in whole.iterdir())
    for name in ("cells.parquet", "responses.parquet", "SHA256SUMS"):
        assert (joined / name).read_bytes() == (whole / name).read_bytes(), name
    assert broken_sums(whole) == broken_sums(joined) == []
    assert not parts_folder(joined).exists()


def test_a_stage_says_in_its_manifest_what_its_cells_depend_on(tmp_path: Path) -> None:
    write_whole(tmp_path / "whole", 1)
    manifest = json.loads((tmp_path / "whole" / "manifest.json").read_text())
    assert manifest["release"] == facts()["release"]
    assert (manifest["commit"], manifest["rule_version"]) == ("c0ffee", RULE.version)
    assert manifest["programs"] == [{"kernel": "ab" * 32}]
    assert manifest["kernel"]["recipe"] == facts()["kernel"]["recipe"]
    assert manifest["parameters"]["policies"] == ["3", "10"]
    assert sorted(manifest["files"]) == ["cells.parquet", "responses.parquet", "stage.json"]


@pytest.mark.parametrize(
    "name", ["cells.parquet", "responses.parquet", "part.json", "manifest.json", "SHA256SUMS"]
)
def test_a_bit_that_flips_in_any_file_of_a_part_is_refused_and_the_part_is_not_done(
    tmp_path: Path, name: str
) -> None:
    common = write_all(tmp_path / "m", 2, responses=True)
    path = part_folders(tmp_path / "m", 2)[1] / name
    sound = path.read_bytes()
    for bit in random.Random(name).sample(range(8 * len(sound)), 40):
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        assert fault_of(path.parent, common)
        with pytest.raises(PartError, match=r"part 2/2 is .*: replay again"):
            join_parts(tmp_path / "m", common, 2)
    assert not (tmp_path / "m").exists()


def test_a_part_is_done_where_it_is_whole_and_of_the_same_plan(tmp_path: Path) -> None:
    place, common = part_folders(tmp_path / "m", 2)[0], plan_of(facts(), PLANNED, responses=False)
    assert fault_of(place, common) == "is not there"
    write_all(tmp_path / "m", 2)
    assert fault_of(place, common) is None
    assert fault_of(place, plan_of(facts(), PLANNED, responses=True))


@pytest.mark.parametrize(
    ("other", "planned", "why"),
    [
        ({"commit": "decade"}, PLANNED, "commit"),
        ({"checksum": "bb"}, PLANNED, "release"),
        ({}, PLANNED[:-1], "cells_planned"),
    ],
)
def test_a_part_of_another_release_other_code_or_another_file_is_refused(
    tmp_path: Path, other: dict[str, str], planned: list[Cell], why: str
) -> None:
    write_all(tmp_path / "m", 2)
    plan = plan_of(facts(**other), planned, responses=False)
    with pytest.raises(PartError, match=f"part 1/2 is of another replay, by its {why}: replay again"):
        join_parts(tmp_path / "m", plan, 2)
    assert not (tmp_path / "m").exists()


def test_a_part_that_is_missing_or_torn_is_named(tmp_path: Path) -> None:
    common = write_all(tmp_path / "m", 2)
    (part_folders(tmp_path / "m", 2)[1] / "part.json").write_text("{")
    with pytest.raises(PartError, match="part 2/2 is not there"):
        join_parts(tmp_path / "m", common, 2)
