"""What the commands of `firstflight import` print of a release that was made or was there."""

import dataclasses
from collections.abc import Iterator

from firstflight.commands.release import PrintedFacts, describe_result
from releases.build import Built


def imported_facts(built: Built) -> dict[str, object]:
    """Return the facts of a release of recorded pages, for JSON."""
    facts = dataclasses.asdict(PrintedFacts.of(built.release))
    return {**facts, "new": built.is_new, "recording": built.release.recording or {}}


def describe_imported(built: Built, known: str, *more: str) -> Iterator[str]:
    """Yield the lines that say which release was made or was there, what is known of it, and its folder."""
    yield describe_result(built.is_new, "imported", PrintedFacts.of(built.release))
    yield f"recorded {(built.release.recording or {})['recorded']}: {known}"
    yield from more
    yield str(built.release.path)
