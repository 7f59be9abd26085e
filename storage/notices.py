"""The notice that takes back a published version of a release or report, and a version's status by it.

releases/.../version=1/tombstone.json   in place of the files of a release in which a site asked to be erased
reports/2026/v1-withdrawn/              beside the files of a report, or alone if they were erased:
                                        manifest.json, SHA256SUMS, and SHA256SUMS.sig if signed
"""

import dataclasses
from pathlib import Path
from typing import Any, Literal

from storage.exhaustion import reraise_exhaustion
from storage.sums import broken_sums, manifest_of

TOMBSTONE = "tombstone.json"

ERASED = "a site was withdrawn"
"""Reason of every erasure: no notice says more about the site."""

UNREADABLE = "the notice of withdrawal is damaged"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Withdrawal:
    """The notice that a version should not be used any more."""

    reason: str
    date: str | None
    """None if it is not known; tombstones have none."""
    is_erased: bool
    """True if the files of the version were removed."""


def notice_of(version: Path) -> Path:
    return version.with_name(f"{version.name}-withdrawn")


def read_withdrawal(version: Path) -> Withdrawal | None:
    """Return the notice that takes back the version in a folder; None without one.

    A damaged notice withdraws too; a tombstone among other files is damage, and does not.
    """
    notice = notice_of(version)
    if notice.is_dir():
        facts = {} if broken_sums(notice) else facts_of(notice)
        date = facts.get("date")
        return Withdrawal(
            reason=str(facts.get("reason", UNREADABLE)),
            date=date if isinstance(date, str) else None,
            is_erased=not version.is_dir() or facts.get("is_erased") is True,
        )
    try:
        is_tombstone = [path.name for path in version.iterdir()] == [TOMBSTONE]
    except OSError as exc:  # missing or unreadable, which says nothing of a withdrawal
        reraise_exhaustion(exc)
        return None
    return Withdrawal(reason=ERASED, date=None, is_erased=True) if is_tombstone else None


def facts_of(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest; nothing if it cannot be read."""
    try:
        return manifest_of(folder)
    except (OSError, ValueError) as exc:
        reraise_exhaustion(exc)
        return {}


VersionStatus = Literal["newest", "superseded", "withdrawn", "erased"]


def status_of(withdrawal: Withdrawal | None, *, is_newest: bool) -> VersionStatus:
    if withdrawal is not None:
        return "erased" if withdrawal.is_erased else "withdrawn"
    return "newest" if is_newest else "superseded"
