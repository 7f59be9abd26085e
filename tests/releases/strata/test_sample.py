"""Samples of a stratum: exact shares, quantiles and means,
and intervals that hold the truth as often as they say."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from releases.strata.bootstrap import GROUPS, LEAST_SITES, TAIL, _quantiles, groups_of
from releases.strata.cells import LARGE, read_items
from releases.strata.sample import BLOCK, Sample, Stratum
from releases.strata.statistics import FEW_SITES, Statistic, estimate
from schema.computed_tables import ITEM

FITS = Statistic(name="share", iw=10, mss=1430, percent=50)
MEDIAN = Statistic(name="quantile", iw=10, mss=1430, percent=50)
NO_NAMES = pa.table({"rank": pa.array([], pa.int32()), "site": pa.array([], pa.string())})
"""Names of sites by which each rank is a site of its own."""

MEAN = Statistic(name="mean", iw=10, mss=1430, percent=50)


def drawn(random: np.random.Generator, *, sites: int, mean_items: int = 8) -> dict[int, list[int]]:
    """Sizes of responses by site: sites differ in their scale and in their number of responses."""
    return {
        rank: np.exp(random.normal(random.normal(9, 1), 1, 1 + random.poisson(mean_items)))
        .astype(int)
        .tolist()
        for rank in range(1, sites + 1)
    }


def write(path: Path, sizes: dict[int, list[int]], *, unknown: int = 0) -> Path:
    """A table of items of the measure `responses`; every second one is over H2."""
    rows = [
        {"size_bytes": size, "rank": rank, "protocol": ("h2", "http/1.1")[place % 2]}
        for rank, of_site in sizes.items()
        for place, size in enumerate(of_site)
    ]
    rows.sort(key=lambda row: (row["size_bytes"], row["rank"]))
    rows += [{"rank": 1, "protocol": "h2"}] * unknown
    common = {"measure": "responses", "page_kind": "home", "rank_stratum": 1000, "party": "first"}
    pq.write_table(pa.Table.from_pylist([common | row for row in rows], schema=ITEM), path)
    return path


def sample(path: Path, sizes: dict[int, list[int]], stratum: Stratum | None = None, **more: int) -> Sample:
    return read_items(write(path, sizes, **more), "responses", NO_NAMES).sample(stratum or Stratum())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "item.parquet"


def test_a_stratum_has_its_own_items_alone(path: Path) -> None:
    sizes = drawn(np.random.default_rng(1), sites=30)
    stratum = sample(path, sizes, Stratum(protocol="h2"), unknown=3)
    wanted = sorted(size for of_site in sizes.values() for size in of_site[::2])
    assert stratum.sizes.tolist() == wanted
    assert (stratum.unknown, stratum.sites) == (3, 30)
    assert stratum.cdf.fit(10, mss=1430).count == sum(size <= 14_300 for size in wanted)
    assert stratum.cdf.quantile(50) == int(np.quantile(wanted, 0.5, method="inverted_cdf"))


def test_strata_can_be_crossed_and_a_value_that_nothing_has_is_empty(path: Path) -> None:
    sizes = drawn(np.random.default_rng(1), sites=30)
    items = read_items(write(path, sizes), "responses", NO_NAMES)
    whole = items.sample(Stratum(protocol="h2"))
    assert items.sample(Stratum(protocol="h2", party="first", rank_stratum=1000)).sizes.tolist() == (
        whole.sizes.tolist()
    )
    for nothing in (Stratum(protocol="h3"), Stratum(party="third"), Stratum(page_kind="inner")):
        estimated = estimate(FITS, items.sample(nothing))
        assert (estimated.value, estimated.lower, estimated.known, estimated.sites) == (None, None, 0, 0)


def test_sizes_of_several_cells_are_in_order_with_their_groups_on_both_sides_of_what_is_large(
    path: Path,
) -> None:
    around = [LARGE - 2, LARGE - 1, LARGE, LARGE + 1, 2**31, 2**40]
    sizes = {rank: [*around[rank % 3 :], rank, LARGE + rank] for rank in range(1, 31)}
    merged = sample(path, sizes)
    group = dict(zip(sizes, groups_of(np.array(list(sizes), np.int32)).tolist(), strict=True))
    wanted = sorted((size, group[rank]) for rank, of_site in sizes.items() for size in of_site)
    assert list(zip(merged.sizes.tolist(), merged.groups.tolist(), strict=True)) == wanted


def test_counts_in_groups_are_right_on_both_sides_of_a_block(path: Path) -> None:
    counted = sample(path, drawn(np.random.default_rng(2), sites=150, mean_items=60))
    assert len(counted.sizes) > 2 * BLOCK
    for count in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, len(counted.sizes)):
        wanted = np.bincount(counted.groups[:count], minlength=GROUPS)
        assert np.array_equal(counted.count_in_groups(count), wanted), count


def test_up_to_the_number_of_groups_each_site_is_its_own(path: Path) -> None:
    sizes = drawn(np.random.default_rng(3), sites=GROUPS)
    small = sample(path, sizes)
    counts = np.bincount(small.groups, minlength=GROUPS)
    assert sorted(counts) == sorted(len(of_site) for of_site in sizes.values())


def test_pages_of_one_site_are_drawn_together(path: Path) -> None:
    sizes = drawn(np.random.default_rng(3), sites=120)
    of_three = {rank: [*sizes[rank], *sizes[rank + 1], *sizes[rank + 2]] for rank in range(1, 120, 3)}
    ranks = pa.array(sizes, pa.int32())
    names = pa.table({"rank": ranks, "site": [f"site{(rank - 1) // 3}.test" for rank in sizes]})
    together = read_items(write(path, sizes), "responses", names).sample(Stratum())
    assert together.sites == 40
    assert estimate(FITS, together) == estimate(FITS, sample(path, of_three))


@pytest.mark.parametrize("sites", [60, 900])
def test_an_interval_is_about_that_of_a_bootstrap_over_every_site(path: Path, sites: int) -> None:
    sizes = drawn(np.random.default_rng(4), sites=sites)
    estimated = estimate(FITS, sample(path, sizes))
    fitting = np.array([sum(size <= 14_300 for size in of_site) for of_site in sizes.values()])
    known = np.array([len(of_site) for of_site in sizes.values()])
    weights = np.random.default_rng(9).multinomial(sites, np.full(sites, 1 / sites), size=2000)
    lower, upper = np.quantile((weights @ fitting) / (weights @ known), [0.025, 0.975])
    assert estimated.value == fitting.sum() / known.sum()
    assert estimated.lower is not None
    assert estimated.upper is not None
    assert estimated.upper - estimated.lower == pytest.approx(upper - lower, rel=0.25)


def in_memory(random: np.random.Generator, *, sites: int) -> Sample:
    """A sample as of `drawn`, made without a file."""
    ranks = np.repeat(np.arange(sites, dtype=np.int32), 1 + random.poisson(8, sites))
    sizes = np.exp(random.normal(random.normal(9, 1, sites)[ranks], 1)).astype(np.int64)
    return Sample.of(sizes, ranks)


def test_intervals_hold_the_truth_nearly_as_often_as_they_say() -> None:
    random = np.random.default_rng(5)
    world = in_memory(random, sites=40_000).cdf
    held = dict.fromkeys((FITS, MEDIAN, MEAN), 0)
    for _ in range(300):
        drawn_sample = in_memory(random, sites=80)
        for statistic in held:
            lower, upper = statistic.interval(drawn_sample)
            held[statistic] += lower <= statistic.of(world) <= upper
    # Of 300 intervals that hold it with 95 %, 271 to 296 do in 99.9 % of cases.
    # Means of a long tail are known to be held less often.
    assert 271 <= held[FITS] <= 296
    assert 271 <= held[MEDIAN] <= 296
    assert 255 <= held[MEAN] <= 296


@pytest.mark.parametrize("replicates", [1, 2, 39, 40, 997, 1000])
def test_quantiles_of_replicates_are_those_of_numpy_to_the_last_bit(replicates: int) -> None:
    values = np.random.default_rng(replicates).random((replicates, 3)).round(2)
    assert np.array_equal(_quantiles(values, [TAIL, 1 - TAIL]), np.quantile(values, [TAIL, 1 - TAIL], axis=0))


def test_an_interval_of_all_or_nothing_is_not_a_point(path: Path) -> None:
    whole = sample(path, drawn(np.random.default_rng(6), sites=50))
    none, every = whole.share_intervals([0, len(whole.sizes)])
    assert none == pytest.approx((0, 1 - 0.025 ** (1 / 50)))
    assert every == pytest.approx((0.025 ** (1 / 50), 1))


def test_too_few_sites_have_a_value_and_no_interval(path: Path) -> None:
    estimated = estimate(FITS, sample(path, drawn(np.random.default_rng(7), sites=LEAST_SITES - 1)))
    assert estimated.value is not None
    assert (estimated.lower, estimated.upper, estimated.interval_unknown) == (None, None, FEW_SITES)


def test_a_sample_of_mostly_unknown_sizes_has_no_value(path: Path) -> None:
    sizes = drawn(np.random.default_rng(8), sites=30)
    known = sum(len(of_site) for of_site in sizes.values())
    estimated = estimate(FITS, sample(path, sizes, unknown=known + 1))
    assert (estimated.value, estimated.lower, estimated.value_unknown) == (
        None,
        None,
        "most sizes are unknown",
    )


def test_intervals_are_the_same_each_time(path: Path) -> None:
    sizes = drawn(np.random.default_rng(9), sites=50)
    assert estimate(MEDIAN, sample(path, sizes)) == estimate(MEDIAN, sample(path, sizes))
