"""What differs between two versions of a report: their content, and the inputs that their manifests name."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reports.document.report_content import content_digest
from storage.report_versions import CONTENT, ReportVersion


def stored_digest(version: ReportVersion) -> str:
    """The digest of a version's content; empty if its report.json cannot be read."""
    try:
        return content_digest(json.loads((version.folder / CONTENT).read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError):
        return ""


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """A line for each input that differs between the manifests of two versions.

    >>> list(changes({"commit": "a", "rule_version": "1"}, {"commit": "b", "rule_version": "1"}))
    ['the code: b in place of a']
    """
    old, new = before.get("release") or {}, now.get("release") or {}
    if old != new:
        yield f"the release: {_release(new)} in place of {_release(old)}"
    for name, title in (
        ("year_before", "the release of the year before"),
        ("replay", "the replay"),
        ("beside", "the replay beside it"),
        ("backcast", "the back-cast"),
        ("last_years_report", "last year's report"),
    ):
        sums = [(facts.get(name) or {}).get("checksum", "none") for facts in (before, now)]
        if sums[0] != sums[1]:
            yield f"{title}: {sums[1][:12]} in place of {sums[0][:12]}"
    for name, title in (("rule_version", "the rule"), ("commit", "the code")):
        if before.get(name) != now.get(name):
            yield f"{title}: {now.get(name)} in place of {before.get(name)}"


def _release(facts: Mapping[str, Any]) -> str:
    return f"{facts.get('crawl', 'unknown')} version {facts.get('version', 'unknown')} ({str(facts.get('checksum'))[:12]})"
