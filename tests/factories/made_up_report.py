"""A data folder with a made-up release and a made-up replay of its pages."""

import dataclasses
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from releases.build import packets_of, write_computed, write_dictionary
from releases.catalogue import Release
from releases.descriptions.write import describe
from replay.networks.copula import PAPER_POPULATIONS, PAPER_PROFILES
from replay.runs.conditions import Conditions
from replay.runs.replay_folder import population_facts
from reports.content import Published, parse_content
from reports.document.compose import compose
from reports.document.report import origin, write_report
from reports.inputs.report_inputs import Places, ReportInputs, read_inputs
from schema.computed_tables import CELL
from schema.crawls import CrawlName
from storage.report_versions import Publication
from storage.sums import seal, sums_now
from tests.factories.made_up_crawl import NAME, MadeUp, write_tables
from tests.factories.made_up_release import make_release
from verdict.rule import RULE

PAGES = 24
PROFILE_IDS = tuple(profile.id for profile in PAPER_PROFILES)
GAINS = {3: -6.0, 10: 0.0, 16: 4.0, 30: 4.3}


def crawl(*, hosts: tuple[str, ...] = ()) -> MadeUp:
    """A crawl of pages whose sizes spread over four decades."""
    made_up = MadeUp()
    for page in range(PAGES):
        made_up.add_visit(host=hosts[page] if page < len(hosts) else f"page{page:02}.test")
        for connection in range(1 + page % 3):
            made_up.add_connection(
                tls_handshake_bytes=3_000 + 40 * page,
                record_bytes=200,
                frame_bytes=90,
                window=16 if page % 4 == 3 else 10,
                window_unknown="growth" if connection == 2 else None,
            )
            for response in range(3):
                size = 300 * (1 + page) * (1 + 9 * response) * (1 + 4 * connection)
                made_up.add_response(size, sent_ms=100 + 60 * response, first_ms=150 + 60 * response)
    return made_up


def crawl_with_another_page() -> MadeUp:
    """The crawl with one page more, for a release whose numbers differ."""
    made_up = crawl()
    made_up.add_visit(host="new.test")
    made_up.add_connection()
    made_up.add_response(5_000)
    return made_up


def write_release(data_dir: Path, made_up: MadeUp, name: CrawlName = NAME, *, version: int = 1) -> Release:
    """The release of `made_up`, with valid checksums."""
    folder = name.path(data_dir / "releases", version=version)
    write_tables(folder, made_up)
    rows = {table: len(rows) for table, rows in made_up.rows().items()} | write_computed(folder, name.kind)
    return make_release(folder, name, version=version, rows=rows)


def write_whole_release(data_dir: Path, made_up: MadeUp, *, version: int = 1) -> Release:
    """The release of `made_up` with all that a release carries, which `firstflight verify` finds sound."""
    release = write_release(data_dir, made_up, version=version)
    write_dictionary(release.path, NAME.kind)
    packets = packets_of(release.file("connection"))
    manifest = dataclasses.replace(release.manifest, files=sums_now(release.path), packets=packets)
    describe(release.path, manifest, like=release.path)
    manifest = dataclasses.replace(manifest, files=sums_now(release.path))
    seal(release.path, manifest.facts)
    return Release(release.path, manifest)


def replay_cells(pages: int = PAGES, gain_percent: Mapping[int, float] = GAINS) -> pa.Table:
    """Cells of the crawl's pages over the profiles that our populations name, in which IW w saves about
    `gain_percent[w]` of a page's time at IW 10, and those of IW 10 by its alias route."""
    draw = random.Random(2026)
    rows = []
    for page in range(pages):
        for iw, gain in gain_percent.items():
            of_page = draw.gauss(0, 0.2) if iw != 10 else 0.0
            for profile in PROFILE_IDS:
                usual_ms = (400 + 150 * page) * (6 if profile.startswith("slow") else 1)
                for seed in range(1, 5):
                    page_ms = usual_ms * (1 - (gain + of_page) / 100) * (1 + draw.gauss(0, 0.05) / 100)
                    rows.append(cell(page, profile, iw, seed, page_ms))
    alias = [row | {"route": "alias"} for row in rows if row["iw"] == 10]
    return pa.Table.from_pylist(rows + alias, schema=CELL)


def cell(page: int, profile: str, iw: int, seed: int, page_ms: float) -> dict[str, Any]:
    """A row of the cells, with a thousandth of all that was sent lost."""
    payload = 400_000 + 10_000 * page
    lost = round(payload / 1000)
    return {
        "page": f"page{page:02}.test",
        "visit_id": page + 1,
        "profile": profile,
        "iw": iw,
        "policy": str(iw),
        **Conditions(congestion_control="cubic").columns(),
        "seed": seed,
        "state": "done",
        "page_ms": page_ms,
        "document_ms": page_ms / 3,
        "first_byte_ms": page_ms / 5,
        "render_blocking_ms": page_ms / 2,
        "response_latency_ms": page_ms / 10,
        "payload_bytes": payload,
        "responses": 1000,
        "responses_own_retransmitted": 1,
        "connections": 1000,
        "connections_initial_loss": 1,
        "segments_sent": payload // 1448,
        "segments_retransmitted": lost // 1448,
        "bytes_retransmitted": lost,
        "bytes_dropped": lost,
        "bytes_spurious": 0,
        "handshake_max_ms": 40.0,
        "bottleneck_drops": 1,
        "snd_cwnd_min": iw,
    }


FEW_CELLS = replay_cells(pages=1, gain_percent={10: 0.0})


def populations(**changes: Any) -> list[dict[str, Any]]:
    return [population_facts(population) | changes for population in PAPER_POPULATIONS]


def write_replay(data_dir: Path, release: Release, table: pa.Table | None = None, /, **changes: Any) -> Path:
    """The one stage of a replay of `release`, with `changes` to its plan."""
    folder = stage_of(data_dir, release.manifest.crawl)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(replay_cells() if table is None else table, folder / "cells.parquet")
    plan = {
        "format_version": 1,
        "rule_version": RULE.version,
        "commit": "0123abc",
        "release": {
            "crawl": str(release.manifest.crawl),
            "version": release.manifest.version,
            "checksum": release.checksum,
        },
        "kernel": {"package": "linux-source-6.12", "version": "6.12.9-1", "recipe": "cd" * 32},
        "parameters": {"policies": ["3", "10", "16", "30"], "seeds": [1, 2, 3, 4], "segment_bytes": 1448},
        "profiles": [dataclasses.asdict(profile) for profile in PAPER_PROFILES],
        "populations": populations(),
        **changes,
    }
    facts = {
        "plan": plan,
        "gates": [
            {
                "guest": 0,
                "profile": PROFILE_IDS[0],
                "name": "snd_cwnd on the first flight",
                "measured": 10,
                "expected": 10,
                "tolerance": 0,
                "passed": True,
            }
        ],
    }
    (folder / "stage.json").write_text(json.dumps(facts), encoding="utf-8")
    seal(folder, {"kind": "stage", "release": plan["release"]})
    return folder


REPLAY = "0123abcd"
"""Eight characters by what the made-up replay was asked."""


def stage_of(data_dir: Path, crawl: CrawlName | str = NAME) -> Path:
    return data_dir / "replays" / f"{crawl}.{REPLAY}" / "stage-01"


def data_folder(
    data_dir: Path, *, kind: str = "localweb", table: pa.Table | None = None, **changes: Any
) -> Release:
    """A release of November 2026 with its replay; of the kind `web`, and of populations measured then, it is
    evidence."""
    release = write_release(data_dir, crawl(), dataclasses.replace(NAME, kind=kind))
    write_replay(data_dir, release, table, **changes)
    return release


def read_data_folder(
    data_dir: Path,
    *,
    year: int = 2026,
    crawl: str | None = None,
    with_replay: bool = True,
) -> ReportInputs:
    """Read the inputs of a report from the folders in `data_dir`."""
    return read_inputs(places(data_dir), year=year, crawl=crawl, with_replay=with_replay)


def places(data_dir: Path) -> Places:
    return Places(
        releases=data_dir / "releases",
        replays=data_dir / "replays",
        reports=data_dir / "reports",
        backcast=data_dir / "backcast",
        allowed_signers=data_dir / "allowed_signers",
    )


def build_report(inputs: ReportInputs, folder: Path) -> dict[str, Any]:
    """Write the first version of the report of the inputs; its content."""
    return write_report(
        inputs, compose(inputs), folder, facts=origin(inputs, commit="c0ffee"), publication=Publication()
    )


def published(content: dict[str, Any]) -> Published:
    """The content of a report.json as its forms take it."""
    return parse_content(Published, content)


CLOSED = ("kind", "drawing", "level")
"""Fields that have no other values than the declared ones."""


def poisoned(value: Any, text: str) -> Any:
    """Append a text to every string that may have any value."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, dict):
        return {key: inner if key in CLOSED else poisoned(inner, text) for key, inner in value.items()}
    return [poisoned(inner, text) for inner in value] if isinstance(value, list) else value
