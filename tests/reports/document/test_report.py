"""The report's files and content."""

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from reports.content import Report, canonical, parse_content
from reports.document.compose import compose
from reports.forms.provenance import provenance
from reports.forms.typesetting import keep_unbroken
from storage.sums import broken_sums, checksum_of
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import (
    PAGES,
    build_report,
    crawl,
    data_folder,
    read_data_folder,
    stage_of,
    write_release,
    write_replay,
)
from tests.factories.undrawn import undrawn
from verdict.rule import RULE
from verdict.verdict_file import round_numbers

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    data_dir = tmp_path_factory.mktemp("data")
    data_folder(data_dir)
    folder = data_dir / "reports" / "2026" / "v1"
    return folder, build_report(read_data_folder(data_dir), folder)


def test_a_report_is_a_page_its_content_as_json_and_a_summary(built: tuple[Path, dict[str, Any]]) -> None:
    folder, content = built
    assert sorted(path.name for path in folder.iterdir()) == [
        "SHA256SUMS",
        "forms",
        "index.html",
        "loads",
        "manifest.json",
        "report.json",
        "summary.txt",
    ]
    assert json.loads((folder / "report.json").read_text(encoding="utf-8")) == content
    assert list(folder.parent.iterdir()) == [folder]


def test_what_servers_do_is_counted_by_exact_window_and_bounds_stand_apart(
    built: tuple[Path, dict[str, Any]],
) -> None:
    folder, content = built
    servers = content["servers"]
    ten, sixteen = servers["windows"]
    assert (ten["window"], sixteen["window"]) == ("10", "16")
    assert (ten["hosts"], sixteen["hosts"]) == (18, 6)
    assert ten["exact"] + sixteen["exact"] == servers["exact"] == 40
    assert (servers["bounded"], servers["at_least"]) == (0, 8)
    assert ten["percent"] + sixteen["percent"] == pytest.approx(100)
    assert [share["segments"] for share in servers["at_most"]] == [10, 16]
    assert [(reason["unknown"], reason["connections"]) for reason in servers["unknown"]] == [("growth", 8)]
    assert servers["first_flights"][0]["packets_p50"] == 10
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert 'id="initial_windows"' in page


def test_the_content_has_the_effects_that_were_put_into_the_cells(built: tuple[Path, dict[str, Any]]) -> None:
    _, content = built
    candidates = {candidate["policy"]: candidate for candidate in content["verdict"]["candidates"]}
    assert {policy: each["standing"] for policy, each in candidates.items()} == {
        "3": None,
        "16": "worth it",
        "30": "worth it",
    }
    gains = {
        policy: next(each["interval"] for each in candidate["beside"] if each["id"] == "gain per load")
        for policy, candidate in candidates.items()
    }
    assert gains["16"]["lower"] < 4.1 < gains["16"]["upper"]
    assert gains["3"]["estimate"] == pytest.approx(-6, abs=0.2)
    assert content["crawl"]["outcomes"] == {"ok": PAGES}
    assert content["replay"]["states"] == {"done": PAGES * 15 * 4}


def test_shares_are_counts_over_the_items_of_known_size(built: tuple[Path, dict[str, Any]]) -> None:
    _, content = built
    responses = next(m for m in content["sizes"]["measures"] if m["id"] == "responses")
    sizes = [row["wire_bytes"] for row in crawl().response]
    for share in responses["shares"]:
        fitting = sum(size <= 1430 * share["iw"] for size in sizes)
        assert share["fitting"] == fitting
        assert share["percent"] == pytest.approx(100 * fitting / len(sizes), rel=1e-5)
        assert share["lower_percent"] <= share["percent"] <= share["upper_percent"]


def test_a_report_of_the_local_web_is_marked_illustrative_everywhere(
    built: tuple[Path, dict[str, Any]],
) -> None:
    folder, content = built
    assert content["is_illustrative"]
    assert "local web" in content["illustrative_because"][0]
    assert "avgdc-2010" in content["illustrative_because"][1]
    assert content["answer"]["headline"] == content["verdict"]["headline"]
    assert content["answer"]["headline"].startswith("By the bundled pages, illustrative: Keep the initial")
    assert (content["answer"]["kind"], content["answer"]["confidence"]["level"]) == ("open", "low")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<figure") == len(list((folder / "forms" / "figures").glob("*.png"))) >= 6
    for figure in page.split("<figure")[1:]:
        assert ">illustrative</text>" in figure.split("</figure>")[0]
    assert "ILLUSTRATIVE" in (folder / "summary.txt").read_text(encoding="utf-8")


def test_a_crawl_of_live_sites_over_old_populations_is_illustrative_too(tmp_path: Path) -> None:
    data_folder(tmp_path, kind="web")
    content = compose(read_data_folder(tmp_path))
    assert content["illustrative_because"] == [
        "the network populations avgdc-2010, slowdc-2010 are more than 24 months old"
    ]


def test_sizes_of_live_sites_without_a_replay_are_not_illustrative(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), dataclasses.replace(NAME, kind="web"))
    folder = tmp_path / "reports" / "2026" / "v1"
    with undrawn():
        content = build_report(read_data_folder(tmp_path, with_replay=False), folder)
    assert (content["is_illustrative"], content["verdict"], content["replay"]) == (False, None, None)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert content["answer"]["kind"] == "no answer"
    assert re.fullmatch("[0-9.]+.% of first flights fit into 10 segments.", content["answer"]["headline"])
    assert keep_unbroken(content["answer"]["headline"]) in page
    assert "badge" not in page.split("</style>")[1]
    assert "No page was replayed" in (folder / "summary.txt").read_text(encoding="utf-8")


def test_the_same_inputs_give_the_same_bytes(
    made_up_report: Path, built: tuple[Path, dict[str, Any]]
) -> None:
    folder, _ = built
    again = made_up_report / "reports" / "2026" / "v1"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 40
    for path in files:
        assert (again / path.relative_to(folder)).read_bytes() == path.read_bytes(), path.name


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def test_the_manifest_has_the_checksums_of_inputs_and_files(built: tuple[Path, dict[str, Any]]) -> None:
    folder, content = built
    of_stages = hashlib.sha256(checksum_of(stage_of(folder.parents[2])).encode()).hexdigest()
    manifest = manifest_of(folder)
    assert manifest["release"]["checksum"] == content["release"]["sha256"]
    assert manifest["replay"]["checksum"] == content["replay"]["sha256"] == of_stages
    assert (manifest["commit"], manifest["rule_version"], manifest["year"]) == ("c0ffee", RULE.version, 2026)
    assert manifest["replay"]["kernel"]["recipe"] == "cd" * 32
    assert manifest["replay"]["parameters"]["policies"] == ["3", "10", "16", "30"]
    assert manifest["last_years_report"] is None
    assert {"index.html", "report.json", "summary.txt", "forms/brief.pdf"} <= manifest["files"].keys()
    assert broken_sums(folder) == []


def test_canonical_json_is_sorted_and_rounded_and_refuses_infinity() -> None:
    assert canonical(round_numbers({"b": 1 / 3, "a": (1, None)})) == '{"a":[1,null],"b":0.333333}\n'
    with pytest.raises(ValueError, match="Out of range float"):
        canonical({"a": float("inf")})


def test_a_list_that_is_older_than_its_crawl_is_among_the_limits(tmp_path: Path) -> None:
    data_folder(tmp_path)
    inputs = read_data_folder(tmp_path)
    manifest = dataclasses.replace(inputs.release.manifest, old_list_month="2026-08")
    old = dataclasses.replace(inputs, release=dataclasses.replace(inputs.release, manifest=manifest))
    (limit,) = {*compose(old)["limits"]} - {*compose(inputs)["limits"]}
    assert limit.startswith("The list of sites is of 2026-08, before the month")


def test_loads_of_code_that_was_not_committed_are_said_to_be_so(tmp_path: Path) -> None:
    data_folder(tmp_path, commit="0123abc-dirty")
    content = compose(read_data_folder(tmp_path))
    assert any("changes that were not committed" in limit for limit in content["limits"])
    replayed = dict(provenance(parse_content(Report, content)))["replay\u2019s code"]
    assert replayed == "commit 0123abc, with changes that were not committed"
    write_replay(tmp_path, read_data_folder(tmp_path).release)
    assert not any("not committed" in limit for limit in compose(read_data_folder(tmp_path))["limits"])
