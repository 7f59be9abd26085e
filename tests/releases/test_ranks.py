"""Ranks of sites and their weights, and shares by weight in a made-up release."""

import math
from pathlib import Path

import pytest

from releases.ranks import Rank, harmonic, magnitude_below, ranks_of
from releases.share_weights import page_fits, shares_by_weight
from tests.factories.made_up_crawl import NAME, MadeUp
from tests.factories.made_up_report import write_release


@pytest.mark.parametrize("count", [100, 1_000, 5_000])
def test_the_harmonic_sum_is_that_of_its_terms(count: int) -> None:
    assert harmonic(count) == pytest.approx(math.fsum(1 / rank for rank in range(1, count + 1)), rel=1e-9)


@pytest.mark.parametrize("magnitude", [1_000, 5_000, 10_000, 50_000])
def test_a_magnitude_weighs_as_its_ranks_together(magnitude: int) -> None:
    ranks = range(magnitude_below(magnitude) + 1, magnitude + 1)
    apart = math.fsum(Rank(rank).weight for rank in ranks)
    assert len(ranks) * Rank(ranks[0], magnitude=magnitude).weight == pytest.approx(apart, rel=1e-6)


def made_up() -> MadeUp:
    """A first site whose three responses fit into ten segments, and a second with one of two that fits."""
    found = MadeUp()
    for sizes in ([1_000, 2_000, 14_300], [1_000, 14_301]):
        found.add_visit()
        found.add_connection(tls_handshake_bytes=3_000, record_bytes=200, frame_bytes=90)
        for size in sizes:
            found.add_response(size, sent_ms=100, first_ms=150)
    return found


def test_shares_are_by_response_by_page_and_by_rank(tmp_path: Path) -> None:
    release = write_release(tmp_path, made_up())
    pages = page_fits(release, windows=(10,), mss=1_430)
    assert [(page.responses, page.fitting) for page in pages] == [(3, (3,)), (2, (1,))]
    ranks = ranks_of(release)
    assert [one.rank for one in ranks.values()] == [1, 2]
    found = shares_by_weight(pages, ranks, windows=(10,))
    assert found == {
        "response": [pytest.approx(80)],
        "page": [pytest.approx(75)],
        "rank": [pytest.approx(100 * (1 + 0.5 * 0.5) / 1.5)],
    }


def test_ranks_of_recorded_pages_are_unknown_and_so_is_their_share(tmp_path: Path) -> None:
    release = write_release(tmp_path, made_up(), NAME.__class__(month=NAME.month, kind="recorded"))
    pages = page_fits(release, windows=(10,), mss=1_430)
    assert ranks_of(release) == {}
    found = shares_by_weight(pages, {}, windows=(10,))
    assert found["page"] == [pytest.approx(75)]
    assert found["rank"] == [None]
