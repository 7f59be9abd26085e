"""The report as files: whole or not at all, the same bytes each time, and refused where its inputs do not fit."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from reports.document.illustrative import illustrative_because
from reports.document.rebuilding import rebuild_commands
from reports.document.report import build_report
from reports.document.report_content import canonical, rounded
from reports.document.report_inputs import ReportError, ReportInputs, read_inputs
from reports.recommendation.rule import RULE
from storage.sums import broken_sums, checksum_of, seal
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    PAGES,
    PROFILE_IDS,
    crawl,
    data_folder,
    replay_cells,
    write_release,
    write_replay,
)
from tests.factories.signing import make_signer

if TYPE_CHECKING:
    from pathlib import Path

QUICK = dataclasses.replace(RULE, replicates=100, harm_conditions=())


FEW_CELLS = replay_cells(pages=1, gain_percent={10: 0.0})


def read(
    data_dir: Path, *, year: int = 2026, crawl: str | None = None, with_replay: bool = True
) -> ReportInputs:
    return read_inputs(
        releases_dir=data_dir / "releases",
        replays_dir=data_dir / "replays",
        reports_dir=data_dir / "reports",
        year=year,
        crawl=crawl,
        with_replay=with_replay,
        allowed_signers=data_dir / "allowed_signers",
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    data_dir = tmp_path_factory.mktemp("data")
    data_folder(data_dir)
    folder = data_dir / "reports" / "2026"
    return folder, build_report(read(data_dir), folder, commit="c0ffee", rule=QUICK)


def test_a_report_is_a_page_its_facts_and_a_summary(built: tuple[Path, dict[str, Any]]) -> None:
    folder, facts = built
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS",
        "index.html",
        "manifest.json",
        "report.json",
        "summary.txt",
    ]
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == facts
    assert list(folder.parent.iterdir()) == [folder]


def test_the_facts_hold_what_was_put_into_the_cells(built: tuple[Path, dict[str, Any]]) -> None:
    _, facts = built
    recommendation = facts["recommendation"]
    assert (recommendation["iw"], recommendation["iw_in_force"], recommendation["rfc9040_iw"]) == (16, 16, 12)
    gain = next(c for c in recommendation["candidates"] if c["candidate"]["segments"] == 16)["gain_percent"]
    assert gain["lower"] < 4.1 < gain["upper"]
    outcomes = {(one["profile"], one["iw"]): one for one in facts["replay"]["outcomes"]}
    assert len(outcomes) == 16
    assert outcomes["avgdc-2010-mid", 3]["saved_percent"]["estimate"] == pytest.approx(-6, abs=0.2)
    assert facts["crawl"]["outcomes"] == {"ok": PAGES}
    assert facts["replay"]["cells"] == {"done": PAGES * 16 * 4}


def test_shares_in_the_facts_are_counts_over_the_known(built: tuple[Path, dict[str, Any]]) -> None:
    _, facts = built
    responses = next(m for m in facts["sizes"]["measures"] if m["id"] == "responses")
    sizes = [row["wire_bytes"] for row in crawl().response]
    for share in responses["shares"]:
        fitting = sum(size <= 1430 * share["iw"] for size in sizes)
        assert share["fitting"] == fitting
        assert share["percent"] == pytest.approx(100 * fitting / len(sizes), rel=1e-5)
        assert share["lower_percent"] <= share["percent"] <= share["upper_percent"]


def test_a_report_of_the_local_web_says_everywhere_that_it_is_illustrative(
    built: tuple[Path, dict[str, Any]],
) -> None:
    folder, facts = built
    assert facts["is_illustrative"]
    assert "local web" in facts["illustrative_because"][0]
    assert "avgdc-2010" in facts["illustrative_because"][1]
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 7
    for figure in page.split("<figure")[1:]:
        drawn, caption = figure.split("</figure>")[0].split("<figcaption>")
        assert ">illustrative</text>" in drawn
        assert '<span class="badge">illustrative</span>' in caption
    assert "ILLUSTRATIVE" in (folder / "summary.txt").read_text(encoding="utf-8")


def test_a_crawl_of_live_sites_over_old_populations_is_illustrative_too(tmp_path: Path) -> None:
    data_folder(tmp_path, kind="web")
    facts = build_report(read(tmp_path), tmp_path / "reports" / "2026", commit="c0ffee", rule=QUICK)
    assert facts["illustrative_because"] == [
        "the network populations avgdc-2010, slowdc-2010 are more than 24 months old"
    ]


def fresh_population(data_dir: Path, measured: str) -> None:
    path = data_dir / "replays" / str(dataclasses.replace(NAME, kind="web")) / "replay.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    for one in facts["populations"]:
        one["measured"] = measured
    path.write_text(json.dumps(facts), encoding="utf-8")
    seal(path.parent, {})


@pytest.mark.parametrize(("measured", "is_illustrative"), [("2024-11", False), ("2024-10", True)])
def test_a_population_of_at_most_24_months_is_evidence(
    tmp_path: Path, measured: str, is_illustrative: bool
) -> None:
    data_folder(tmp_path, kind="web", table=FEW_CELLS)
    fresh_population(tmp_path, measured)
    assert bool(illustrative_because(read(tmp_path))) == is_illustrative


def test_an_imported_population_decides_and_can_be_replayed_again(tmp_path: Path) -> None:
    data_folder(tmp_path, table=FEW_CELLS)
    path = tmp_path / "replays" / str(NAME) / "replay.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    whole, slow = facts["populations"]
    facts["populations"] = [
        whole
        | {
            "id": "ndt-2026-05",
            "measured": "2026-05",
            "source": "M-Lab's NDT",
            "weights": {PROFILE_IDS[0]: 1.0},
        },
        slow | {"id": "ndt-2026-05-slow", "weights": {PROFILE_IDS[0]: 1.0}},
    ]
    path.write_text(json.dumps(facts), encoding="utf-8")
    seal(path.parent, {})
    inputs = read(tmp_path)
    assert inputs.replay
    assert inputs.replay.population_weights["average"] == {PROFILE_IDS[0]: 1.0}
    assert (
        "--population ndt-2026-05.csv --population-measured 2026-05 --population-source 'M-Lab'\"'\"'s NDT'"
        in rebuild_commands(inputs)[1]
    )


def test_a_replay_that_names_no_population_is_to_be_made_again(tmp_path: Path) -> None:
    data_folder(tmp_path, table=FEW_CELLS)
    path = tmp_path / "replays" / str(NAME) / "replay.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    del facts["populations"]
    path.write_text(json.dumps(facts), encoding="utf-8")
    seal(path.parent, {})
    with pytest.raises(ReportError, match="names no populations"):
        illustrative_because(read(tmp_path))


def test_without_a_replay_sizes_of_live_sites_are_no_illustration(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), dataclasses.replace(NAME, kind="web"))
    folder = tmp_path / "reports" / "2026"
    facts = build_report(read(tmp_path, with_replay=False), folder, commit="c0ffee")
    assert (facts["is_illustrative"], facts["recommendation"], facts["replay"]) == (False, None, None)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "No recommendation" in page
    assert "badge" not in page.split("</style>")[1]
    assert "built without a replay" in (folder / "summary.txt").read_text(encoding="utf-8")


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, built: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = built
    data_folder(tmp_path)
    again = tmp_path / "reports" / "2026"
    build_report(read(tmp_path), again, commit="c0ffee", rule=QUICK)
    for path in folder.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_year_without_a_release_names_the_command(tmp_path: Path) -> None:
    data_folder(tmp_path)
    with pytest.raises(
        ReportError, match=r"no release of 2025 .* `firstflight release build --crawl 2025-MM`"
    ):
        read(tmp_path, year=2025)
    with pytest.raises(ReportError, match="no release of crawl 2026-03 in 2026"):
        read(tmp_path, crawl="2026-03")


def test_the_newest_month_is_taken_and_two_of_it_are_a_question(tmp_path: Path) -> None:
    for month in ("2026-02", "2026-11"):
        write_release(tmp_path, crawl(), dataclasses.replace(NAME, month=month))
    newest = write_release(tmp_path, crawl(), NAME, version=2)
    assert read(tmp_path, with_replay=False).release == newest
    assert read(tmp_path, crawl="2026-02", with_replay=False).release.manifest.crawl.month == "2026-02"
    write_release(tmp_path, crawl(), dataclasses.replace(NAME, device="mobile"))
    with pytest.raises(ReportError, match=r"2026-11 has 2 releases .* choose one with --crawl"):
        read(tmp_path, with_replay=False)


def test_a_missing_replay_names_the_command(tmp_path: Path) -> None:
    write_release(tmp_path, crawl())
    with pytest.raises(
        ReportError, match=f"run `firstflight replay run --crawl {NAME}`, or .*--without-replay"
    ):
        read(tmp_path)


def test_a_replay_of_another_release_is_refused(tmp_path: Path) -> None:
    release = data_folder(tmp_path)
    write_replay(tmp_path, release, checksum="00")
    with pytest.raises(ReportError, match="made from another version of the release"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["cells.parquet", "replay.json"])
def test_a_replay_that_cannot_be_read_is_one_line(tmp_path: Path, name: str) -> None:
    data_folder(tmp_path)
    folder = tmp_path / "replays" / str(NAME)
    (folder / name).write_bytes(b"\xff torn")
    with pytest.raises(ReportError, match=rf"is damaged \({name}\); run `firstflight replay run"):
        read(tmp_path)
    seal(folder, {})
    with pytest.raises(ReportError, match="cannot be read; run `firstflight replay run"):
        read(tmp_path)


def test_a_replay_of_another_version_or_without_cells_is_refused(tmp_path: Path) -> None:
    release = data_folder(tmp_path)
    write_replay(tmp_path, release, replay_cells().drop_columns(["page_ms"]))
    with pytest.raises(ReportError, match="of another version"):
        read(tmp_path)
    write_replay(tmp_path, release, replay_cells().slice(0, 0))
    with pytest.raises(ReportError, match="has no cell"):
        read(tmp_path)


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def test_a_report_names_its_inputs_by_their_sums_and_every_file_by_its_own(
    built: tuple[Path, dict[str, Any]],
) -> None:
    folder, facts = built
    data_dir = folder.parents[1]
    manifest = manifest_of(folder)
    replay = data_dir / "replays" / str(NAME)
    assert manifest["release"]["checksum"] == facts["release"]["sha256"]
    assert manifest["replay"]["checksum"] == checksum_of(replay) == facts["replay"]["sha256"]
    assert (manifest["commit"], manifest["rule_version"], manifest["year"]) == ("c0ffee", RULE.version, 2026)
    assert manifest["replay"]["kernel"]["recipe"] == "cd" * 32
    assert manifest["replay"]["parameters"]["windows"] == [3, 10, 16, 30]
    assert manifest["last_years_report"] is None
    assert sorted(manifest["files"]) == ["index.html", "report.json", "summary.txt"]
    assert broken_sums(folder) == []


@pytest.mark.parametrize("name", ["cells.parquet", "replay.json", "manifest.json", "SHA256SUMS"])
def test_a_bit_that_flips_in_any_file_of_a_replay_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    release = data_folder(tmp_path, table=FEW_CELLS)
    path = tmp_path / "replays" / str(release.crawl) / name
    sound = path.read_bytes()
    for bit in random.Random(name).sample(range(8 * len(sound)), 100):
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        with pytest.raises(
            ReportError, match=r"^the replay in .* is damaged \(.*\); run `firstflight"
        ) as refused:
            read(tmp_path)
        assert "\n" not in str(refused.value)
    path.write_bytes(sound)
    assert read(tmp_path).replay is not None


def test_a_replay_that_was_made_anew_as_a_whole_keeps_no_good_signature(tmp_path: Path) -> None:
    release = data_folder(tmp_path, table=FEW_CELLS)
    signer = make_signer(tmp_path)
    signer.allowed_signers.rename(tmp_path / "allowed_signers")
    signer = dataclasses.replace(signer, allowed_signers=tmp_path / "allowed_signers")
    for folder in (release.path, tmp_path / "replays" / str(NAME)):
        signer.sign(folder)
    assert read(tmp_path).replay is not None
    write_replay(tmp_path, release, replay_cells(pages=2, gain_percent={10: 0.0}))
    with pytest.raises(
        ReportError, match=r"is damaged \(bad signature: SHA256SUMS is not what releases@example.org"
    ):
        read(tmp_path)


def test_a_damaged_release_of_another_month_is_no_hindrance(tmp_path: Path) -> None:
    data_folder(tmp_path)
    for month in ("2025-01", "2026-10"):
        other = write_release(tmp_path, crawl(), dataclasses.replace(NAME, month=month))
        (other.path / "manifest.json").write_text("{")
    assert read(tmp_path).release.crawl.month == "2026-11"


def test_a_damaged_newest_release_is_refused_and_never_replaced_by_an_older_one(tmp_path: Path) -> None:
    data_folder(tmp_path)
    newest = write_release(tmp_path, crawl(), dataclasses.replace(NAME, month="2026-12"))
    (newest.path / "manifest.json").write_text("{")
    with pytest.raises(ReportError, match=r"the release of 2026-12\..* is damaged \(manifest.json\)"):
        read(tmp_path)
    assert read(tmp_path, crawl="2026-11").release.crawl.month == "2026-11"


def test_a_damaged_release_is_refused(tmp_path: Path) -> None:
    release = data_folder(tmp_path)
    pq.write_table(pq.read_table(release.file("site")).slice(1), release.file("site"))
    with pytest.raises(ReportError, match=r"is damaged \(site.parquet\)"):
        read(tmp_path)


@pytest.mark.parametrize(("is_illustrative", "expected"), [(False, 16), (True, None)])
def test_last_years_value_is_an_incumbent_only_where_it_has_force(
    tmp_path: Path, is_illustrative: bool, expected: int | None
) -> None:
    data_folder(tmp_path)
    last = tmp_path / "reports" / "2025" / "report.json"
    last.parent.mkdir(parents=True)
    last.write_text(json.dumps({"is_illustrative": is_illustrative, "recommendation": {"iw_in_force": 16}}))
    seal(last.parent, {})
    assert read(tmp_path).last_years_iw == expected


def test_a_last_report_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    data_folder(tmp_path)
    last = tmp_path / "reports" / "2025" / "report.json"
    last.parent.mkdir(parents=True)
    last.write_text("{")
    with pytest.raises(ReportError, match=r"last year's report .* is damaged \(SHA256SUMS\)"):
        read(tmp_path)
    seal(last.parent, {})
    with pytest.raises(ReportError, match=r"last year's report .* cannot be read"):
        read(tmp_path)


def test_canonical_facts_are_sorted_and_rounded_and_hold_no_infinity() -> None:
    assert canonical(rounded({"b": 1 / 3, "a": (1, None)})) == (
        '{\n  "a": [\n    1,\n    null\n  ],\n  "b": 0.333333\n}\n'
    )
    with pytest.raises(ValueError, match="Out of range float"):
        canonical({"a": float("inf")})
