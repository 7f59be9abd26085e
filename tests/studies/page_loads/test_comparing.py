"""Times of real and of replayed loads, compared by arithmetic that can be done by hand."""

import pytest

from studies.page_loads import table
from studies.page_loads.comparing import Comparison, Load, compare, measure_all

NETWORK = "a-network"
REAL = {
    ("a", 3): 200.0,
    ("a", 10): 100.0,
    ("a", 30): 100.0,
    ("b", 3): 400.0,
    ("b", 10): 300.0,
    ("b", 30): 330.0,
}
REPLAYED = {key: time * (1.1 if key[0] == "a" else 0.8) for key, time in REAL.items()} | {("b", 30): 200.0}


def loads(times: dict[tuple[str, int], float], *factors: float) -> list[Load]:
    return [
        Load(
            network=NETWORK,
            page=page,
            iw=iw,
            page_ms=time * factor,
            document_ms=time * factor / 2,
            first_byte_ms=time * factor / 4,
            responses={"a.test/": time * factor / 2, "a.test/1": time * factor / 4},
        )
        for (page, iw), time in times.items()
        for factor in factors
    ]


def compare_all(real: list[Load], replayed: list[Load]) -> dict[str, Comparison]:
    return {comparison.measure: comparison for comparison in compare(measure_all(real, replayed, [NETWORK]))}


def test_the_error_is_the_median_over_pages_and_windows_of_the_loads_medians() -> None:
    page = compare_all(loads(REAL, 0.9, 1.0, 1.3), loads(REPLAYED, 1.0))["page"]
    assert page.pages == 2
    assert page.median_error == pytest.approx((0.1 + 0.2) / 2)
    assert page.median_bias == pytest.approx((0.1 - 0.2) / 2)
    assert page.rank_correlation == pytest.approx(
        14 / 17
    )  # ranks 3, 1.5, 1.5, 6, 4, 5 and 4, 1.5, 1.5, 6, 5, 3


def test_all_measures_that_scale_alike_have_the_same_error() -> None:
    errors = {
        round(comparison.median_error, 9)
        for comparison in compare_all(loads(REAL, 1.0), loads(REPLAYED, 1.0)).values()
    }
    assert errors == {0.15}


def test_gains_are_compared_by_page_and_a_gain_of_nothing_is_no_saving() -> None:
    gains = compare_all(loads(REAL, 1.0), loads(REPLAYED, 1.0))["page"].gains
    assert [gain.real for gain in gains[3, 10]] == pytest.approx([0.5, 0.25])
    assert [gain.replayed for gain in gains[3, 10]] == pytest.approx([0.5, 0.25])
    assert [gain.has_same_sign for gain in gains[10, 30]] == [True, False]


def test_a_gain_is_sure_if_no_load_says_otherwise() -> None:
    gains = compare_all(loads(REAL, 0.9, 1.1), loads(REPLAYED, 1.0))["page"].gains
    assert [gain.is_sure for gain in gains[3, 10]] == [True, True]
    assert [gain.is_sure for gain in gains[10, 30]] == [False, False]


def test_a_page_without_all_windows_is_left_out() -> None:
    real = [load for load in loads(REAL, 1.0) if (load.page, load.iw) != ("b", 30)]
    assert compare_all(real, loads(REPLAYED, 1.0))["page"].pages == 1


def test_the_table_says_which_bounds_are_missed() -> None:
    page = compare_all(loads(REAL, 1.0), loads(REPLAYED, 1.0))["page"]
    assert table.time_row(page)[-1] == "error, correlation"
    assert table.gain_row(page, (3, 10))[-1] == ""
    assert table.gain_row(page, (10, 30))[-1] == "sign, size"
