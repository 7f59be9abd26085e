"""Computes an item of a published report again, from the release that its
manifest names and the replay's loads.

The loads are those of the replay that the manifest names, where it is there,
or else those that the report carries itself.
"""

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from releases.catalogue import Release
from reports.decision.stored_stages import stages_folders
from reports.document.report import compose
from reports.document.report_content import FORMAT_VERSION
from reports.forms.figure_files import band_columns, csv_text
from reports.forms.printed import tables_of
from reports.inputs.errors import ReportError
from reports.inputs.replays import BESIDE, FULL
from reports.inputs.report_inputs import ReportInputs, read_inputs
from reports.loads.carried import FOLDER as LOADS
from reports.loads.carried import Unpacked, unpacked
from reports.recommendation.rule import RULE, Rule
from storage.signatures import faults
from storage.sums import SUMS, checksum_of, manifest_of

Data = Mapping[str, Any]


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
    notes: tuple[str, ...] = ()
    """What it was computed from, beside what the report's manifest names."""


def recompute(folder: Path, item: str, *, places: Places, rule: Rule = RULE) -> Recomputed:
    """Compute an item of the report in `folder` again and compare every digit; raises ReportError."""
    (found,) = recompute_items(folder, [item], places=places, rule=rule)
    return found


def recompute_items(
    folder: Path, wanted: Sequence[str], *, places: Places, rule: Rule = RULE
) -> list[Recomputed]:
    """Compute items of the report in `folder` again, all of them if none is named, and compare every digit.

    Raises ReportError. What follows from the release alone needs no replay. A release of the same name and
    version that was built again counts if all digits are equal: its documents have the words of the code that
    built it.
    """
    manifest, content = _stored(folder, places, rule)
    published = items(content)
    for item in wanted:
        if item not in published:
            raise ReportError(f"{folder} has no {item!r}; it has: {', '.join(sorted(published))}")
    named = _named(manifest, places) | {"rule": rule}
    alone = read_inputs(**named, with_replay=False)
    other = _other_release(manifest, alone)
    notes = [f"from another build of the release ({alone.release.checksum})"] if other else []
    found = _compared(published, wanted or [*published], items(compose(alone, rule=rule)), notes)
    left = [one.id for one in found if one.differences]
    if left and manifest["replay"] is not None:
        with _with_loads(folder, manifest, content, named, alone.release) as (inputs, carries):
            notes = [*notes, *(["by the loads that the report carries"] if carries else [])]
            by_loads = _compared(published, left, items(compose(inputs, rule=rule)), notes)
            left = [one.id for one in by_loads if one.differences]
            if left and manifest["beside"] and inputs.replay is None:
                raise ReportError(
                    "the full replay beside the stages, whose loads the report does not carry, is needed "
                    f"for {', '.join(left)}; {_how_to_replay(named)}"
                )
        again = {one.id: one for one in by_loads}
        found = [again.get(one.id, one) for one in found]
    if left and other:
        raise ReportError(other)
    return found


def _compared(
    published: Mapping[str, str], wanted: Sequence[str], computed: Mapping[str, str], notes: Sequence[str]
) -> list[Recomputed]:
    """Each item as it was computed, beside what was published."""
    return [
        Recomputed(
            id=item,
            again=computed.get(item, ""),
            differences=differences(published[item], computed.get(item, "")),
            notes=tuple(notes),
        )
        for item in wanted
    ]


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
            f"the report {folder} has format {made_by[0]} and version {made_by[1]} of the rule, this code "
            f"{FORMAT_VERSION} and {rule.version}: take firstflight of commit {made_by[2]}"
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
        "year_before": (manifest["year_before"] or {}).get("version"),
        "allowed_signers": places.allowed_signers,
        "backcast": places.backcast,
    }


def _other_release(manifest: dict[str, Any], inputs: ReportInputs) -> str | None:
    """Which release has another checksum than the manifest states, and what to do; None if none has.

    ReportError if one is missing.
    """
    for stated, found in (
        (manifest["release"], inputs.release),
        (manifest["year_before"], inputs.year_before),
    ):
        if stated and (found is None or found.checksum != stated["checksum"]):
            there = "is missing" if found is None else "is not the one that the report names"
            told = (
                f"the release {stated['crawl']}, version {stated['version']}, {there} "
                f"({stated['checksum']}); fetch that one, or make it again with firstflight of the report's "
                f"commit {manifest['commit']}"
            )
            if found is None:
                raise ReportError(told)
            return told
    return None


def _is_beside(manifest: dict[str, Any], inputs: ReportInputs) -> bool:
    """Return whether the full replay beside the stages is the one that the manifest states,
    if it states one."""
    stated = manifest["beside"]
    return not stated or (inputs.replay is not None and inputs.replay.checksum == stated["checksum"])


def _check_beside(manifest: dict[str, Any], inputs: ReportInputs) -> None:
    if not _is_beside(manifest, inputs):
        raise ReportError(
            "the full replay beside the stages is not the one that the report names "
            f"({manifest['beside']['checksum']}); fetch that one"
        )


@contextlib.contextmanager
def _with_loads(
    folder: Path, manifest: dict[str, Any], content: dict[str, Any], named: dict[str, Any], release: Release
) -> Iterator[tuple[ReportInputs, bool]]:
    """The inputs with the loads of the replay that the manifest names,
    or with those that the report carries, and whether these were taken.

    The back-cast is the one that the manifest names, if it is there or is carried.
    """
    plan = content["stages"]["plan"] if content["stages"] else None
    with unpacked(folder, release, plan=plan) as carried:
        if carried is not None and not _is_there(named["backcast"], manifest["backcast"]):
            named = named | {"backcast": carried.backcast}
        found = _named_replay(manifest, content, named, is_needed=carried is None)
        if found is None and carried is not None:
            yield _carried(carried, plan, named), True
            return
        if found is None:
            raise ReportError(
                f"the replay with checksum {manifest['replay']['checksum']} is not in "
                f"{named['replays_dir']}, and the report does not carry its loads (it has no "
                f"{LOADS}/); {_how_to_replay(named)}"
            )
        yield found, False


def _is_there(folder: Path, stated: dict[str, Any] | None) -> bool:
    """Return whether a folder is the one that a manifest states, or none is stated."""
    return not stated or ((folder / SUMS).is_file() and checksum_of(folder) == stated["checksum"])


def _how_to_replay(named: dict[str, Any]) -> str:
    return (
        f"copy that replay to {named['replays_dir']}, or make it again by the commands in the report's "
        'section "Rebuild this report"'
    )


def _carried(carried: Unpacked, plan: str | None, named: dict[str, Any]) -> ReportInputs:
    """The inputs with the loads that the report carries."""
    which = FULL if plan is None else f"{plan}{BESIDE if carried.has_full else ''}"
    return read_inputs(**named | {"replays_dir": carried.replays}, with_replay=True, which=which)


def _named_replay(
    manifest: dict[str, Any], content: dict[str, Any], named: dict[str, Any], *, is_needed: bool
) -> ReportInputs | None:
    """The inputs that the manifest names, by their checksums,
    or stages that somebody else made by the same plan; None without either.

    A plan states all that its loads depend on, so that those of another run are equal, while times of the run
    itself are not. A full replay beside the stages that is missing or another one is an error if the replay
    `is_needed`, which the report does not carry.
    """
    of_crawl = named["replays_dir"] / manifest["release"]["crawl"]
    beside = BESIDE if manifest["beside"] else ""
    if not is_needed and not of_crawl.exists() and (beside or not content["stages"]):
        return None
    by_the_plan: ReportInputs | None = None
    for which in [f"{plan}{beside}" for plan in stages_folders(of_crawl)] if content["stages"] else [FULL]:
        inputs = read_inputs(**named, with_replay=True, which=which)
        made = inputs.staged or inputs.replay
        if made is not None and made.checksum == manifest["replay"]["checksum"]:
            if not is_needed and not _is_beside(manifest, inputs):
                return None
            _check_beside(manifest, inputs)
            return inputs
        if inputs.staged is not None and inputs.staged.plan == content["stages"]["plan"]:
            by_the_plan = inputs
    return by_the_plan


def items(content: Data) -> dict[str, str]:
    """The text of every item of a report's content, by id: its data with all digits that are published."""
    return dict(_items(content))


def _items(content: Data) -> Iterator[tuple[str, str]]:
    for number in content["answer"]["numbers"]:
        written = json.dumps(number, indent=2, sort_keys=True, ensure_ascii=False)
        yield f"number-{number['id']}", f"{written}\n"
    figures = (one for section in content["sections"] for one in section["figures"])
    for one in (*figures, *tables_of(content)):
        yield one["id"], csv_text(one["columns"], one["rows"])
        if one.get("bands"):
            yield f"{one['id']}-bands", csv_text(band_columns(one), one["bands"])


def differences(stored: str, again: str) -> tuple[str, ...]:
    """Lines that differ, as stored and as computed again; empty if all digits are equal.

    >>> differences("iw,ms\\n10,1.5\\n", "iw,ms\\n10,1.6\\n")
    ('- 10,1.5', '+ 10,1.6')
    """
    before, now = stored.splitlines(), again.splitlines()
    found: list[str] = []
    for at in range(max(len(before), len(now))):
        pair = [lines[at] if at < len(lines) else None for lines in (before, now)]
        if pair[0] != pair[1]:
            found += [f"{sign} {line}" for sign, line in zip("-+", pair, strict=True) if line is not None]
    return tuple(found)
