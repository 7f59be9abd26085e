"""Computes an item of a published report again, from the release and the replay that the report's manifest names."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from reports.decision.stored_stages import stages_folders
from reports.document.report import compose
from reports.document.report_content import FORMAT_VERSION
from reports.document.report_inputs import FULL, ReportError, ReportInputs, read_inputs
from reports.recommendation.rule import RULE, Rule
from reports.recomputation.items import differences, items
from storage.signatures import faults
from storage.sums import manifest_of


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of what a report was made from."""

    releases: Path
    replays: Path
    reports: Path
    backcast: Path
    allowed_signers: Path


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """An item as it was computed again, and the lines in which it differs from what was published."""

    id: str
    again: str
    differences: tuple[str, ...]


def recompute(folder: Path, item: str, *, places: Places, rule: Rule = RULE) -> Recomputed:
    """Compute an item of the report in `folder` again and compare every digit; raises ReportError."""
    manifest, content = _stored(folder, places, rule)
    published = items(content)
    if item not in published:
        raise ReportError(f"{folder} has no {item!r}; it has: {', '.join(sorted(published))}")
    again = items(compose(_inputs(manifest, content, places), rule=rule)).get(item, "")
    return Recomputed(id=item, again=again, differences=differences(published[item], again))


def _stored(folder: Path, places: Places, rule: Rule) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and report.json of a report whose checksums and signature hold."""
    if broken := faults(folder, places.allowed_signers):
        raise ReportError(f"the report {folder} is damaged ({', '.join(broken)}); restore it from a copy")
    try:
        content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        manifest = manifest_of(folder)
        made_by = (content["format_version"], manifest["rule_version"], manifest["commit"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ReportError(f"the report {folder} cannot be read; restore it from a copy") from exc
    if made_by[:2] != (FORMAT_VERSION, rule.version):
        raise ReportError(
            f"the report {folder} has format {made_by[0]} and version {made_by[1]} of the rule, this code {FORMAT_VERSION} "
            f"and {rule.version}: take firstflight of commit {made_by[2]}"
        )
    return manifest, content


def _inputs(manifest: dict[str, Any], content: dict[str, Any], places: Places) -> ReportInputs:
    """The inputs that the manifest names, by their checksums."""
    release, replay = manifest["release"], manifest["replay"]
    plans = stages_folders(places.replays / release["crawl"]) if content["stages"] else [FULL]
    for which in plans:
        inputs = read_inputs(
            releases_dir=places.releases,
            replays_dir=places.replays,
            reports_dir=places.reports,
            year=manifest["year"],
            crawl=release["crawl"],
            release_version=release["version"],
            with_replay=replay is not None,
            allowed_signers=places.allowed_signers,
            backcast=places.backcast,
            which=which if replay else None,
        )
        if inputs.release.checksum != release["checksum"]:
            raise ReportError(
                f"the release {release['crawl']}, version {release['version']}, is not the one that the report names "
                f"({release['checksum']}); fetch that one"
            )
        made = inputs.staged or inputs.replay
        if (made.checksum if made else None) == (replay["checksum"] if replay else None):
            return inputs
    raise ReportError(
        f"the replay with checksum {replay['checksum'] if replay else 'none'} is not in {places.replays}; copy it there"
    )
