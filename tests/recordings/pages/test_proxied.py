"""The sets of 2023 and 2024, recorded through a proxy: what others counted, and what their releases hold."""

import statistics
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import numpy as np
import pytest

from recordings.pages.same_sites import site_keys
from recordings.pages.sets import AUGUST_2025, SETS, read_source
from releases.catalogue import Release, releases
from replay.recipes.page_recipe import Recipe, read_recipes
from schema.recorded import notes_of, null_reasons

FIRST, AGAIN, LATER = PROXIED = ("tranco-2023-11", "tranco-2023-11b", "tranco-2024-11")

TEN = 10 * 1448

ANSWERED = "method = 'GET' AND status = 200"

COUNTED: Mapping[str, tuple[int, float, float, float, float]] = {
    FIRST: (73_248, 0.729, 0.673, 0.695, 0.005),
    AGAIN: (70_279, 0.723, 0.672, 0.688, 0.005),
    LATER: (89_662, 0.760, 0.699, 0.705, 0.006),
}
"""Responses of known size, the share within ten segments of all and of answered GETs, and the mean over pages
of each page's share with its standard error, as others counted them."""


@pytest.fixture(scope="module", params=PROXIED)
def release(request: pytest.FixtureRequest, recorded_releases: Callable[[str], Path]) -> Release:
    return next(iter(releases(recorded_releases(request.param))))


@pytest.fixture(scope="module")
def recipes(release: Release) -> list[Recipe]:
    return read_recipes(release)


def within_ten(release: Release, where: str = "true") -> dict[int, float]:
    """Share of each page's responses of known size within ten segments."""
    query = f"""SELECT visit_id, avg((wire_bytes <= {TEN})::int) FROM read_parquet(?)
                WHERE wire_bytes IS NOT NULL AND {where} GROUP BY visit_id"""
    return dict(duckdb.execute(query, [str(release.file("response"))]).fetchall())


def pooled(release: Release, where: str = "true") -> tuple[int, float]:
    query = f"""SELECT count(*), avg((wire_bytes <= {TEN})::int) FROM read_parquet(?)
                WHERE wire_bytes IS NOT NULL AND {where}"""
    number, share = duckdb.execute(query, [str(release.file("response"))]).fetchall()[0]
    return int(number), float(share)


def test_shares_within_ten_segments_are_those_that_others_counted(release: Release) -> None:
    number, every, answered, mean, error = COUNTED[release.manifest.list_id]
    assert pooled(release)[0] == number
    assert pooled(release)[1] == pytest.approx(every, abs=0.0005)
    assert pooled(release, ANSWERED)[1] == pytest.approx(answered, abs=0.0005)
    by_page = [*within_ten(release).values()]
    assert statistics.mean(by_page) == pytest.approx(mean, abs=0.0005)
    assert statistics.stdev(by_page) / len(by_page) ** 0.5 == pytest.approx(error, abs=0.0005)
    assert 0.12 < statistics.stdev(by_page) < 0.15


def test_answered_requests_of_august_2025_fit_less(recorded_releases: Callable[[str], Path]) -> None:
    august = next(iter(releases(recorded_releases(AUGUST_2025))))
    assert pooled(august, ANSWERED)[1] == pytest.approx(0.604, abs=0.001)  # without the headers of frames


PAIRS = [
    (FIRST, AGAIN, 543, -0.002, 0.003, 0.84),
    (FIRST, LATER, 489, 0.006, 0.005, 0.65),
]
"""Two sets, their sites in common, the difference of the share within ten segments with its standard error,
and the correlation, as others counted them."""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_the_same_sites_differ_by_what_others_counted(
    recorded_releases: Callable[[str], Path], pair: tuple[str, str, int, float, float, float]
) -> None:
    before, after, sites, change, error, correlation = pair
    x, y = in_common(recorded_releases, before, after)
    assert len(x) == sites
    assert (y - x).mean() == pytest.approx(change, abs=0.0005)
    assert (y - x).std(ddof=1) / sites**0.5 == pytest.approx(error, abs=0.0005)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(correlation, abs=0.005)


@pytest.mark.parametrize(("name", "sites"), [(FIRST, 56), (AGAIN, 54), (LATER, 55)])
def test_answered_requests_of_the_sites_that_august_has_too_fit_by_two_or_three_points_more(
    recorded_releases: Callable[[str], Path], name: str, sites: int
) -> None:
    x, y = in_common(recorded_releases, AUGUST_2025, name, ANSWERED)
    assert len(x) == sites
    assert 0.02 <= (y - x).mean() <= 0.03


def in_common(
    recorded_releases: Callable[[str], Path], before: str, after: str, where: str = "true"
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the sites that two sets have in common."""
    of_site: list[dict[str, float]] = []
    for name in (before, after):
        keys = site_keys(name)
        pages = within_ten(next(iter(releases(recorded_releases(name)))), where)
        of_site.append(
            {
                site: statistics.mean(share for page, share in pages.items() if keys[page] == site)
                for site in {keys[page] for page in pages}
            }
        )
    same = sorted(of_site[0].keys() & of_site[1].keys())
    return np.array([of_site[0][site] for site in same]), np.array([of_site[1][site] for site in same])


def test_sizes_are_derived_and_protocols_are_not_known(release: Release) -> None:
    columns = duckdb.execute(
        "SELECT DISTINCT size_basis, protocol FROM read_parquet(?) WHERE wire_bytes IS NOT NULL",
        [str(release.file("response"))],
    ).fetchall()
    assert columns == [("derived", None)]
    assert set((release.recording or {})["null_columns"]) <= set(null_reasons(notes_of("proxied")))


def test_the_recording_says_what_is_assumed_and_by_which_rules(release: Release) -> None:
    recording = release.recording or {}
    assert recording["inferred"]["protocols"]["share"] == 1
    assert recording["inferred"]["connections"]["share"] == 1
    known = recording["inferred"]["protocols"]["requests"]
    assert 0.32 < known["elsewhere"] / sum(known.values()) < 0.41
    (assumed,) = [limit for limit in recording["limits"] if limit.startswith("For replays")]
    for word in ("Protocols:", "Connections:", "Headers:", "initiators"):
        assert word in assumed


LEFT_OUT = {FIRST: (32, 575), AGAIN: (25, 604), LATER: (67, 456)}
"""Pages of more than a tenth unanswered (60 in all), in 2024 with the 64 without headers; and pages that can
be replayed: of one more the main document has no known size."""


def test_pages_that_are_not_for_replay_have_no_connection_and_no_recipe(
    release: Release, recipes: list[Recipe]
) -> None:
    left_out = duckdb.execute(
        "SELECT visit_id FROM read_parquet(?) GROUP BY visit_id HAVING count(connection_id) = 0",
        [str(release.file("response"))],
    ).fetchall()
    pages = {recipe.visit_id for recipe in recipes}
    assert not pages & {visit for (visit,) in left_out}
    assert (len(left_out), len(pages)) == LEFT_OUT[release.manifest.list_id]


def test_an_origin_has_one_connection_over_http2_and_http3(release: Release) -> None:
    most = duckdb.execute(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM read_parquet(?) WHERE protocol <> 'http/1.1' "
        "GROUP BY visit_id, host, protocol)",
        [str(release.file("connection"))],
    ).fetchone()
    assert most == (1,)


def test_a_replay_takes_half_of_the_headers_text_over_http2(release: Release, recipes: list[Recipe]) -> None:
    sizes = {
        (visit, number): (wire, header)
        for visit, number, wire, header in duckdb.execute(
            "SELECT visit_id, id, wire_bytes, header_bytes FROM read_parquet(?)",
            [str(release.file("response"))],
        ).fetchall()
    }
    for recipe in recipes[:50]:
        for object_ in recipe.objects:
            wire, header = sizes[recipe.visit_id, object_.response_id]
            taken = header // 2 if recipe.origins[object_.origin].h2 else 0
            assert object_.response_bytes == wire - taken


@pytest.mark.parametrize("name", PROXIED)
def test_its_source_names_repository_commit_recorder_and_that_no_licence_is_stated(name: str) -> None:
    source = read_source(SETS[name])
    assert len(source.commit) == 40
    assert source.recorder.endswith("(GitHub)")
    assert source.licence.startswith("none stated")
