"""Computes an item of a published report again, from the release that its
manifest names and the replay's loads.

The loads are those that the report carries itself, or else those of the replay that the manifest names.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from recordings.pages.sets import AUGUST_2025, SETS
from reports.content import FORMAT_VERSION, Report, parse_content
from reports.document.compose import compose
from reports.forms.forms import band_columns, csv_text
from reports.inputs.carried import carried_by
from reports.inputs.replays import ReportError
from reports.inputs.report_inputs import Places, ReportInputs, read_inputs
from storage.signatures import find_faults
from storage.sums import manifest_of
from verdict.rule import VERSION as RULE_VERSION


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """An item computed again, and the lines that differ."""

    id: str
    again: str
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """Inputs beside those that the manifest names."""


class _Stated(TypedDict):
    """The arguments of `read_inputs` that a report states."""

    year: int
    crawl: str
    release_version: int
    year_before: int | None
    other_sets: frozenset[str]


def recompute(folder: Path, item: str, *, places: Places) -> Recomputed:
    (recomputed,) = recompute_items(folder, [item], places=places)
    return recomputed


def recompute_items(folder: Path, wanted: Sequence[str], *, places: Places) -> list[Recomputed]:
    """Compute items of a report again, by default all, and compare every digit; ReportError.

    What follows from the release alone needs no replay. A release of the same name and version that was
    built again counts if all digits are equal: its documents have the words of the code that built it.
    """
    manifest, content = _read_stored(folder, places)
    published = items(content)
    for item in wanted:
        if item not in published:
            raise ReportError(f"{folder} has no {item!r}; it has: {', '.join(sorted(published))}")
    named = _input_arguments(manifest, content)
    alone = read_inputs(places, **named, with_replay=False)
    other = _other_release(manifest, alone)
    notes = [f"from another build of the release ({alone.release.checksum})"] if other else []
    recomputed = _compare(published, wanted or [*published], items(compose(alone)), notes)
    left = [entry.id for entry in recomputed if entry.differences]
    if left and manifest["replay"] is not None:
        inputs, carries = _with_loads(folder, manifest, places, named)
        notes = [*notes, *(["by the loads that the report carries"] if carries else [])]
        by_loads = _compare(published, left, items(compose(inputs)), notes)
        left = [load.id for load in by_loads if load.differences]
        again = {load.id: load for load in by_loads}
        recomputed = [again.get(entry.id, entry) for entry in recomputed]
    missing = named["other_sets"] - {year.manifest.list_id for year in alone.other_years}
    if left and missing:
        imports = ", ".join(f"`firstflight import pages {name}`" for name in sorted(missing))
        raise ReportError(f"pages of other years that the report compares with are missing: {imports}")
    if left and other:
        raise ReportError(other)
    return recomputed


def _compare(
    published: Mapping[str, str], wanted: Sequence[str], computed: Mapping[str, str], notes: Sequence[str]
) -> list[Recomputed]:
    return [
        Recomputed(
            id=item,
            again=computed.get(item, ""),
            differences=differences(published[item], computed.get(item, "")),
            notes=tuple(notes),
        )
        for item in wanted
    ]


def _read_stored(folder: Path, places: Places) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return manifest and report.json, once checksums and signature hold."""
    if broken := find_faults(folder, places.allowed_signers):
        raise ReportError(f"the report {folder} is damaged ({', '.join(broken)}); restore it from a copy")
    try:
        content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        manifest = manifest_of(folder)
        made_by = (content["format_version"], manifest["rule_version"], manifest["commit"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ReportError(f"the report {folder} cannot be read; restore it from a copy") from exc
    if made_by[:2] != (FORMAT_VERSION, RULE_VERSION):
        raise ReportError(
            f"the report {folder} has format {made_by[0]} and version {made_by[1]} of the rule, this code "
            f"{FORMAT_VERSION} and {RULE_VERSION}: take firstflight of commit {made_by[2]}"
        )
    return manifest, content


def _input_arguments(manifest: Mapping[str, Any], content: Mapping[str, Any]) -> _Stated:
    """Return arguments of `read_inputs` for the manifest's release, and the sets of other years imported
    after it.
    """
    imports = [command.split() for command in content["redo"] if command.startswith("firstflight import")]
    return {
        "year": manifest["year"],
        "crawl": manifest["release"]["crawl"],
        "release_version": manifest["release"]["version"],
        "year_before": (manifest["year_before"] or {}).get("version"),
        "other_sets": frozenset((words[3:] or [AUGUST_2025])[0] for words in imports[1:]) & SETS.keys(),
    }


def _other_release(manifest: Mapping[str, Any], inputs: ReportInputs) -> str | None:
    """Return which release has another checksum, and what to do; ReportError if one is missing."""
    for stated, release in (
        (manifest["release"], inputs.release),
        (manifest["year_before"], inputs.year_before),
    ):
        if stated and (release is None or release.checksum != stated["checksum"]):
            fault = "is missing" if release is None else "is not the one that the report names"
            message = (
                f"the release {stated['crawl']}, version {stated['version']}, {fault} "
                f"({stated['checksum']}); fetch that one, or make it again with firstflight of the report's "
                f"commit {manifest['commit']}"
            )
            if release is None:
                raise ReportError(message)
            return message
    return None


def _with_loads(
    folder: Path, manifest: Mapping[str, Any], places: Places, named: _Stated
) -> tuple[ReportInputs, bool]:
    """Return the inputs with the carried loads, or else the manifest's replay, and whether they are
    carried.
    """
    stated = manifest["replay"]
    if carried := carried_by(folder):
        return read_inputs(places, **named, with_replay=True, carried=carried), True
    every = [stated, *manifest.get("confirming", ())]
    inputs = read_inputs(places, **named, with_replay=True, which=[replay["name"] for replay in every])
    found = (
        {replay.checksum for replay in (inputs.replay, *inputs.replay.confirming)} if inputs.replay else {}
    )
    for replay in every:
        if replay["checksum"] not in found:
            raise ReportError(
                f"the replay with checksum {replay['checksum']} is not there, and the report does not carry "
                'its loads; make it again by the commands in the report\'s section "Rebuild this report"'
            )
    return inputs, False


def items(content: Mapping[str, Any]) -> dict[str, str]:
    """Return each item's text by id, with all published digits."""
    return dict(_items(parse_content(Report, content)))


def _items(report: Report) -> Iterator[tuple[str, str]]:
    for number in report.answer.numbers:
        written = json.dumps(dataclasses.asdict(number), indent=2, sort_keys=True, ensure_ascii=False)
        yield f"number-{number.id}", f"{written}\n"
    for table in report.tables():
        yield table.id, csv_text(table.columns, table.rows)
    for figure in report.figures():
        yield figure.id, csv_text(figure.columns, figure.rows)
        if figure.bands:
            yield f"{figure.id}-bands", csv_text(band_columns(figure), figure.bands)


def differences(stored: str, again: str) -> tuple[str, ...]:
    """Return lines that differ, as stored and as computed again.

    >>> differences("iw,ms\\n10,1.5\\n", "iw,ms\\n10,1.6\\n")
    ('- 10,1.5', '+ 10,1.6')
    """
    before, now = stored.splitlines(), again.splitlines()
    differing: list[str] = []
    for at in range(max(len(before), len(now))):
        pair = [lines[at] if at < len(lines) else None for lines in (before, now)]
        if pair[0] != pair[1]:
            differing += [f"{sign} {line}" for sign, line in zip("-+", pair, strict=True) if line is not None]
    return tuple(differing)
