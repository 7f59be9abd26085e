"""Who recorded the pages of a release stands in its citation, also where the release does not say so."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from recordings.pages.sets import AUGUST_2025, recorder_of
from releases.catalogue import releases


def test_a_bundled_set_has_a_recorder_whether_or_not_its_release_names_one(
    recorded_releases: Callable[[str], Path],
) -> None:
    (release,) = releases(recorded_releases(AUGUST_2025))
    named = recorder_of(release.manifest)
    assert named
    assert recorder_of(dataclasses.replace(release.manifest, recorded_by=())) == named
    assert recorder_of(dataclasses.replace(release.manifest, recorded_by=(), list_id="another")) == ""
