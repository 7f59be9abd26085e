import itertools
import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from recordings.pages.same_sites import sites_of
from releases.build import write_computed
from releases.catalogue import Release
from releases.cdf import Cdf, count_incomplete, read_counts
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import LEAST_SITES
from releases.strata.cells import read_items
from releases.strata.sample import WHOLE, Sample
from schema.computed_tables import DISTRIBUTION, MEASURES, SIZES
from tests.factories.made_up_crawl import NAME, MadeUp, release_of, write_tables


def released(folder: Path, made_up: MadeUp) -> Release:
    folder = folder / "month=2026-11" / "version=1"  # a release's own path looks like Hive's partitions
    write_tables(folder, made_up)
    write_computed(folder, NAME.kind)
    return release_of(folder)


def items(release: Release, measure: str) -> dict[int | None, int]:
    rows = pq.read_table(release.file("distribution")).to_pylist()
    return {row["size_bytes"]: row["count"] for row in rows if row["measure"] == measure}


def sample_of(release: Release, measure: str) -> Sample:
    return read_items(release.file("item"), measure, sites_of(release)).sample(WHOLE)


def cdf_of(release: Release, measure: str) -> Cdf:
    return sample_of(release, measure).cdf


def one_page() -> MadeUp:
    """A redirect, the document and two images over H2; another host in the clear."""
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection(tls_handshake_bytes=3000, tls_ticket_bytes=500, frame_bytes=100, window=10)
    made_up.add_response(300, sent_ms=100, first_ms=150)
    made_up.add_response(20_000, sent_ms=150, first_ms=200, last_ms=300)
    made_up.add_response(5_000, sent_ms=301, first_ms=351)
    made_up.add_connection(host="images.test", window=5, window_unknown="response_ended")
    made_up.add_response(7_000, sent_ms=400, first_ms=450)
    made_up.add_connection(host="images.test")
    made_up.add_response(1_000, sent_ms=400, first_ms=450)
    return made_up


def test_each_measure_counts_its_own_items(tmp_path: Path) -> None:
    release = released(tmp_path, one_page())
    assert {measure: items(release, measure) for measure in SIZES} == {
        "responses": {300: 1, 1000: 1, 5000: 1, 7000: 1, 20_000: 1},
        "responses_first": {300: 1, 1000: 1, 7000: 1},
        # The redirect left the window initial; the 14 segments after it opened it.
        "responses_iw_limited": {300: 1, 1000: 1, 7000: 1, 20_000: 1},
        "responses_derived": {},
        "responses_derived_bodies": {},
        "responses_incomplete": {},
        "first_flights": {1000: 1, 3900: 1, 7000: 1},
        "first_flights_after_tls": {900: 1, 1000: 1, 7000: 1},
        "tls_flights": {3000: 1},
        "connections": {1000: 1, 7000: 1, 28_900: 1},
        "hosts": {8000: 1, 28_900: 1},
        "pages": {36_900: 1},
    }


def test_requests_of_a_page_are_the_responses_of_its_visit_that_crossed_the_network(tmp_path: Path) -> None:
    made_up = one_page()
    made_up.add_response(900, sent_ms=500, first_ms=550, is_complete=False)
    made_up.add_response(None, unknown="unseen")
    made_up.add_response(None, unknown="from_cache")
    made_up.add_visit()
    made_up.add_connection()
    made_up.add_response(300, sent_ms=100, first_ms=150)
    made_up.add_visit(is_final=False)
    made_up.visit[-1]["page_kind"] = "inner"  # a page of its own, which is not counted to any home page
    made_up.add_connection()
    made_up.add_response(400, sent_ms=100, first_ms=150)
    cdf = cdf_of(released(tmp_path, made_up), "requests")
    assert (cdf.sizes.tolist(), cdf.cumulative.tolist(), cdf.unknown) == ([1, 7], [1, 2], 0)


def test_only_final_visits_that_went_well_count(tmp_path: Path) -> None:
    made_up = one_page()
    for outcome, is_final in (("timeout", False), ("ok", True), ("http_error", True)):
        made_up.add_visit(outcome=outcome, is_final=is_final)
        made_up.add_connection()
        made_up.add_response(1234)
    release = released(tmp_path, made_up)
    assert items(release, "responses")[1234] == 1
    assert items(release, "first_flights")[1234] == 1
    assert sum(items(release, "pages").values()) == 2


def test_cached_and_absent_responses_are_not_counted_and_an_unseen_one_is_of_unknown_size(
    tmp_path: Path,
) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection()
    made_up.add_response(None, sent_ms=None)
    made_up.add_response(4000, sent_ms=50, first_ms=100)
    made_up.add_response(None, unknown="from_cache")
    made_up.add_response(None, unknown="unseen")
    release = released(tmp_path, made_up)
    assert items(release, "responses") == {4000: 1, None: 1}
    assert items(release, "responses_first") == {4000: 1}
    assert items(release, "first_flights") == {4000: 1}
    assert items(release, "responses_iw_limited") == {4000: 1}


def test_an_incomplete_response_is_counted_apart_and_makes_its_flight_unknown(tmp_path: Path) -> None:
    made_up = one_page()
    made_up.add_connection(host="broken.test")
    made_up.add_response(900, sent_ms=500, first_ms=550, is_complete=False)
    made_up.add_response(600, sent_ms=600, first_ms=650)
    release, before = released(tmp_path / "1", made_up), released(tmp_path / "2", one_page())
    assert items(release, "responses_incomplete") == {900: 1}
    counts = read_counts(release.file("distribution"))
    assert {measure: (counted.known, counted.unknown) for measure, counted in counts.items()} == {
        measure: (cdf.known, cdf.unknown) for measure in SIZES for cdf in [cdf_of(release, measure)]
    }
    assert count_incomplete(counts) == (1, 1 / 7)
    for measure, more in (
        ("responses", {600: 1}),
        ("responses_first", {}),
        ("responses_iw_limited", {600: 1}),
        ("first_flights", {None: 1}),
    ):
        assert items(release, measure) == items(before, measure) | more, measure


def test_an_unknown_flight_is_counted_as_unknown(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection()
    made_up.add_response(4000, sent_ms=50, first_ms=100)
    made_up.add_response(None, sent_ms=60)
    release = released(tmp_path, made_up)
    assert items(release, "first_flights") == {None: 1}
    cdf = cdf_of(release, "first_flights")
    assert cdf.fit(10, mss=MSS_FIG1).share is None
    assert (cdf.known, cdf.unknown) == (0, 1)
    assert cdf.thinned(10) == []


def test_quic_has_no_flights_of_tcp(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection(tls_handshake_bytes=3000, protocol="h3")
    made_up.add_response(4000)
    release = released(tmp_path, made_up)
    assert items(release, "responses") == {4000: 1}
    assert items(release, "first_flights") == items(release, "responses_iw_limited") == {}


def many_pages(seed: int = 1, sites: int = 40) -> MadeUp:
    chance = random.Random(seed)
    made_up = MadeUp()
    for _ in range(sites):
        made_up.add_visit()
        scale = chance.choice([500, 5000, 50_000])
        for number in range(chance.randrange(1, 5)):
            made_up.add_connection(
                host=f"h{number % 2}.test",
                tls_handshake_bytes=chance.choice([None, 2500]),
                frame_bytes=50,
                window=10 * number + 10,
                window_unknown="response_ended" if number == 1 else None,
            )
            for position in range(chance.randrange(1, 6)):
                made_up.add_response(
                    chance.randrange(100, scale),
                    sent_ms=110 + position,
                    first_ms=160 + 20 * position,
                    is_complete=position < 4,
                )
    return made_up


def test_cdfs_rise_strictly_and_end_at_exactly_one(tmp_path: Path) -> None:
    table = pq.read_table(released(tmp_path, many_pages()).file("distribution"))
    assert table.schema.equals(DISTRIBUTION)
    for measure in SIZES:
        rows = [
            row for row in table.to_pylist() if row["measure"] == measure and row["size_bytes"] is not None
        ]
        cdf = [row["cdf"] for row in rows]
        assert bool(rows) != measure.startswith("responses_derived"), measure
        if not rows:
            continue
        assert cdf[-1] == 1.0
        assert all(low < high for low, high in itertools.pairwise(cdf))
        assert [row["size_bytes"] for row in rows] == sorted(row["size_bytes"] for row in rows)
        assert [row["cumulative"] for row in rows] == list(np.cumsum([row["count"] for row in rows]))


def test_a_share_counts_up_to_the_last_byte_of_the_window(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection()
    for number, size in enumerate((4290, 4291, 14_300, 14_301)):
        made_up.add_response(size, sent_ms=100 + 100 * number, first_ms=150 + 100 * number)
    release = released(tmp_path, made_up)
    cdf = cdf_of(release, "responses")
    assert [cdf.fit(iw, mss=1430).share for iw in (2, 3, 10, 11)] == [0, 0.25, 0.75, 1]
    assert cdf.fit(10, mss=1448).share == 1
    assert cdf.fit(10, mss=1430).window_bytes == 14_300


def test_quantiles_are_sizes_that_occur(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit()
    made_up.add_connection()
    for number in range(10):
        made_up.add_response(100 * (number + 1), sent_ms=100 + 100 * number, first_ms=150 + 100 * number)
    cdf = cdf_of(released(tmp_path, made_up), "responses")
    assert {percent: cdf.quantile(percent) for percent in (10, 11, 30, 50, 100)} == {
        10: 100,
        11: 200,
        30: 300,
        50: 500,
        100: 1000,
    }


def test_quantiles_agree_with_numpy_on_many_rows(tmp_path: Path) -> None:
    made_up = many_pages()
    cdf = cdf_of(released(tmp_path, made_up), "responses")
    sizes = [row["wire_bytes"] for row in made_up.response if row["is_complete"]]
    expected = {p: int(np.quantile(sizes, p / 100, method="inverted_cdf")) for p in (10, 25, 50, 75, 90, 99)}
    assert {percent: cdf.quantile(percent) for percent in expected} == expected


def test_physical_order_does_not_matter(tmp_path: Path) -> None:
    made_up = many_pages()
    before = released(tmp_path / "a", made_up)
    chance = random.Random(3)
    for rows in (made_up.connection, made_up.response):
        chance.shuffle(rows)
        rows.sort(key=lambda row: row["visit_id"])
    after = released(tmp_path / "b", made_up)
    assert pq.read_table(after.file("distribution")).equals(pq.read_table(before.file("distribution")))


def test_a_crawl_without_a_good_visit_has_an_empty_distribution(tmp_path: Path) -> None:
    made_up = MadeUp()
    made_up.add_visit(outcome="dns")
    release = released(tmp_path, made_up)
    assert pq.read_table(release.file("distribution")).num_rows == 0
    assert cdf_of(release, "pages").fit(10, mss=MSS_FIG1).share is None
    assert not any(sample_of(release, measure).has_intervals for measure in MEASURES)


def test_no_interval_is_stated_of_fewer_than_the_least_sites(tmp_path: Path) -> None:
    for sites in (LEAST_SITES - 1, LEAST_SITES):
        made_up = MadeUp()
        for site in range(sites):
            made_up.add_visit()
            made_up.add_connection()
            made_up.add_response(14_300 if site % 4 else 14_301, sent_ms=100, first_ms=150)
        release = released(tmp_path / str(sites), made_up)
        assert sample_of(release, "responses").has_intervals == (sites == LEAST_SITES)


def test_an_interval_over_sites_holds_the_share_and_is_wider_than_one_over_responses(tmp_path: Path) -> None:
    sample = sample_of(released(tmp_path, many_pages()), "responses")
    (over_sites,) = sample.shares_up_to([4_290])
    apart = np.arange(len(sample.sizes), dtype=np.int32)
    (alone,) = Sample.of(sample.sizes.astype(np.int64), apart).shares_up_to([4_290])
    assert over_sites.estimate == alone.estimate == sample.cdf.fit(3, mss=MSS_FIG1).share
    assert over_sites.lower < over_sites.estimate < over_sites.upper
    assert over_sites.upper - over_sites.lower > 1.5 * (alone.upper - alone.lower)


def test_the_shares_of_growing_sizes_never_fall_and_neither_do_their_intervals(tmp_path: Path) -> None:
    shares = sample_of(released(tmp_path, many_pages()), "responses").shares_up_to(
        [500, 1_000, 4_290, 14_300, 100_000]
    )
    for end in ("estimate", "lower", "upper"):
        values = [getattr(share, end) for share in shares]
        assert values == sorted(values)


def test_steps_are_what_the_figure_draws(tmp_path: Path) -> None:
    cdf = cdf_of(released(tmp_path, one_page()), "responses")
    assert cdf.sizes.tolist() == [300, 1000, 5000, 7000, 20_000]
    assert cdf.cumulative.tolist() == [1, 2, 3, 4, 5]
