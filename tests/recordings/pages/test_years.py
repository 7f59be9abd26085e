"""The sets of other years: what their deriver counted, and what the import makes of them."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from recordings.pages.sets import AUGUST_2025, SETS, read_set
from recordings.release import Content
from schema.recorded import null_reasons
from studies.recorded_pages.facts import PROXIED

MSS = 1430
Row = Mapping[str, Any]

SETS_OF_YEARS = [name for name in sorted(SETS) if name not in (AUGUST_2025, *PROXIED)]


@pytest.fixture(scope="module", params=SETS_OF_YEARS)
def content(request: pytest.FixtureRequest) -> tuple[str, Content]:
    return request.param, read_set(SETS[request.param])


def is_image(row: Row) -> bool:
    return str(row["mime_type"] or row["resource_type"]).startswith("image")


def every(row: Row) -> bool:
    return True


COUNTED: dict[str, list[tuple[Callable[[Row], bool], str, int, tuple[float, float, float, float]]]] = {
    "wpt-2019-12": [
        (every, "wire_bytes", 20_064, (0.6174, 0.7655, 0.8366, 0.9107)),
        (is_image, "wire_bytes", 8170, (0.5972, 0.7813, 0.8452, 0.9201)),
    ],
    "lh-kenya-2020-07": [
        (every, "wire_bytes", 48_855, (0.6102, 0.7546, 0.8234, 0.8953)),
        (is_image, "wire_bytes", 18_583, (0.5848, 0.7458, 0.8111, 0.8745)),
    ],
    "lh-gov-europe-2021-03": [
        (every, "wire_bytes", 3229, (0.4295, 0.6466, 0.7262, 0.8222)),
        (is_image, "wire_bytes", 1465, (0.3338, 0.5727, 0.6567, 0.7631)),
    ],
    "mobile-images-2022-05": [(is_image, "wire_bytes", 48_801, (0.5236, 0.7043, 0.7768, 0.8585))],
    "phantomjs-2013-09": [(is_image, "body_bytes", 7545, (0.4737, 0.8025, 0.8814, 0.9545))],
}
"""Responses of known size, and shares of them within 3, 10, 16 and 30 segments, as their deriver counted."""


def test_the_shares_that_fit_are_those_that_the_deriver_counted(content: tuple[str, Content]) -> None:
    name, release = content
    for of, column, number, shares in COUNTED[name]:
        sizes = [row[column] for row in release.tables["response"] if of(row) and row[column] is not None]
        assert len(sizes) == number
        counted = [sum(size <= iw * MSS for size in sizes) / number for iw in (3, 10, 16, 30)]
        # The headers of frames, which the deriver did not add, move the set of 2021 by a thousandth.
        assert counted == pytest.approx(shares, abs=0.0015)


def test_a_size_says_what_it_rests_on(content: tuple[str, Content]) -> None:
    name, release = content
    bases = {"wpt-2019-12": "derived", "mobile-images-2022-05": "selected", "phantomjs-2013-09": "selected"}
    assert release.recording["responses_by_size_basis"].keys() == {bases.get(name, "counted")}


def test_a_body_alone_is_less_than_with_the_headers_text(content: tuple[str, Content]) -> None:
    for row in content[1].tables["response"]:
        if row["body_bytes"] is not None:
            assert row["wire_bytes"] == row["body_bytes"] + row["header_bytes"]


def test_recorded_connections_and_initiators_are_taken_and_none_are_inferred(
    content: tuple[str, Content],
) -> None:
    name, release = content
    inferred = release.recording["inferred"]
    assert not inferred["connections"]["share"]
    assert not inferred["initiators"]["share"]
    assert bool(release.tables["connection"]) == (name == "wpt-2019-12")
    if name == "wpt-2019-12":
        assert inferred["connections"]["requests"]["named"] == 19_985
        assert inferred["initiators"]["requests"]["initiator"] > 12_000


def test_what_no_row_knows_has_a_reason_and_no_host_can_reach_a_site(content: tuple[str, Content]) -> None:
    _, release = content
    for table, rows in release.tables.items():
        for column in rows[0] if rows else ():
            if all(row.get(column) is None for row in rows):
                assert f"{table}.{column}" in null_reasons(release.notes)
    assert all(row["host"].endswith(".invalid") for row in release.tables["response"])


def test_its_source_names_repository_commit_licence_and_list(content: tuple[str, Content]) -> None:
    recording = content[1].recording
    assert all(recording[name] for name in ("source", "commit", "licence", "list_name", "limits"))
    assert len(recording["commit"]) == 40
