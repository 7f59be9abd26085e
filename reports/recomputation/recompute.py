"""Computes an item of a published report again, from the release and the replay that the report's manifest names."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from reports.decision.stored_stages import stages_folders
from reports.document.report import compose
from reports.document.report_content import FORMAT_VERSION
from reports.inputs.errors import ReportError
from reports.inputs.replays import BESIDE, FULL
from reports.inputs.report_inputs import ReportInputs, read_inputs
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
    """Compute an item of the report in `folder` again and compare every digit; raises ReportError.

    What follows from the release alone needs no replay to be there.
    """
    manifest, content = _stored(folder, places, rule)
    published = items(content)
    if item not in published:
        raise ReportError(f"{folder} has no {item!r}; it has: {', '.join(sorted(published))}")
    named = _named(manifest, places) | {"rule": rule}
    alone = read_inputs(**named, with_replay=False)
    _check_release(manifest, alone)
    again = items(compose(alone, rule=rule)).get(item, "")
    if manifest["replay"] is not None and differences(published[item], again):
        again = items(compose(_with_replay(manifest, content, named), rule=rule)).get(item, "")
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


def _named(manifest: dict[str, Any], places: Places) -> dict[str, Any]:
    """Arguments of `read_inputs` for the release that the manifest names."""
    return {
        "releases_dir": places.releases,
        "replays_dir": places.replays,
        "reports_dir": places.reports,
        "year": manifest["year"],
        "crawl": manifest["release"]["crawl"],
        "release_version": manifest["release"]["version"],
        # Reports of before the comparison have no such field.
        "year_before": (manifest.get("year_before") or {}).get("version"),
        "allowed_signers": places.allowed_signers,
        "backcast": places.backcast,
    }


def _check_release(manifest: dict[str, Any], inputs: ReportInputs) -> None:
    for stated, found in (
        (manifest["release"], inputs.release),
        (manifest.get("year_before"), inputs.year_before),
    ):
        if stated and (found is None or found.checksum != stated["checksum"]):
            there = "is missing" if found is None else "is not the one that the report names"
            raise ReportError(
                f"the release {stated['crawl']}, version {stated['version']}, {there} ({stated['checksum']}); fetch that one, "
                f"or make it again with firstflight of the report's commit {manifest['commit']}"
            )


def _check_beside(manifest: dict[str, Any], inputs: ReportInputs) -> None:
    stated = manifest.get("beside")
    if stated and (inputs.replay is None or inputs.replay.checksum != stated["checksum"]):
        raise ReportError(
            f"the full replay beside the stages is not the one that the report names ({stated['checksum']}); fetch that one"
        )


def _with_replay(manifest: dict[str, Any], content: dict[str, Any], named: dict[str, Any]) -> ReportInputs:
    """The inputs that the manifest names, by their checksums, or stages that somebody else made by the same plan.

    A plan states all that its loads depend on, so that those of another run are equal, while times of the run itself are not.
    """
    of_crawl = named["replays_dir"] / manifest["release"]["crawl"]
    beside = BESIDE if manifest.get("beside") else ""
    by_the_plan: ReportInputs | None = None
    for which in [f"{plan}{beside}" for plan in stages_folders(of_crawl)] if content["stages"] else [FULL]:
        inputs = read_inputs(**named, with_replay=True, which=which)
        _check_release(manifest, inputs)
        made = inputs.staged or inputs.replay
        if made is not None and made.checksum == manifest["replay"]["checksum"]:
            _check_beside(manifest, inputs)
            return inputs
        if inputs.staged is not None and inputs.staged.plan == content["stages"]["plan"]:
            by_the_plan = inputs
    if by_the_plan is not None:
        return by_the_plan
    raise ReportError(
        f"the replay with checksum {manifest['replay']['checksum']} is not in {named['replays_dir']}, and no report contains its loads; copy it there"
    )
