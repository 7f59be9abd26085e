import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.recipes.tls_records import RECORD_BYTES, RECORD_OVERHEAD_BYTES, payload, record_runs


def of_payload(plaintexts: list[int]) -> list[int]:
    return [size + RECORD_OVERHEAD_BYTES for size in plaintexts]


@pytest.mark.parametrize(
    ("wire", "tls", "sent"), [(1, False, 1), (1, True, 23), (16_384, True, 16_406), (16_385, True, 16_429)]
)
def test_tls_adds_a_record_header_and_tag_each_sixteen_kilobytes(wire: int, tls: bool, sent: int) -> None:
    assert payload(wire, tls=tls) == sent


@pytest.mark.parametrize(
    ("plaintexts", "runs"),
    [
        pytest.param([51, 9_000], ((0, 16_384),), id="records that ended with their responses"),
        pytest.param([51, 386, 386, 386], ((0, 16_384),), id="small responses of one size"),
        pytest.param([51, 16_384, 16_384, 700], ((0, 16_384),), id="nginx"),
        pytest.param([51, 4_096, 4_096, 812, 900], ((3, 4_096), (0, 16_384)), id="unknown behind the last"),
        pytest.param([51, 4_096, 4_096, 812, 4_096, 4_096], ((0, 4_096),), id="four kilobytes"),
        pytest.param([51, *[1_369] * 9], ((40, 1_369), (0, 16_384)), id="small first"),
        pytest.param(
            [1_369, 1_369, 1_369, 4_229, 4_229], ((3, 1_369), (0, 4_229)), id="larger after the third"
        ),
    ],
)
def test_a_servers_limit_is_the_size_that_neighbouring_records_share(
    plaintexts: list[int], runs: tuple[tuple[int, int], ...]
) -> None:
    assert record_runs(of_payload(plaintexts)) == runs


@pytest.mark.parametrize("unknown", [None, []])
def test_without_recorded_sizes_there_is_no_limit_to_tell(unknown: list[int] | None) -> None:
    assert record_runs(unknown) == ()


@given(st.lists(st.integers(min_value=1, max_value=RECORD_BYTES + 300), min_size=1, max_size=10))
def test_no_recorded_record_is_larger_than_its_limit_and_the_last_run_does_not_end(sizes: list[int]) -> None:
    *runs, (last, tail) = record_runs(sizes)
    limits = [limit for count, limit in runs for _ in range(count)]
    limits += [tail] * len(sizes)
    assert last == 0
    assert all(count > 0 for count, _ in runs)
    for size, limit in zip(sizes, limits, strict=False):
        assert min(size - RECORD_OVERHEAD_BYTES, RECORD_BYTES) <= limit <= RECORD_BYTES
