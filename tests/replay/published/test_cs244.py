"""The rerun's cells, and the effects that explain single ones."""

import pytest

from replay.published import cs244
from replay.published.cs244 import cubic_windows, explain, with_an_early_end_of_slow_start
from replay.published.reproduction import ComparedValue


def published(what: str) -> cs244.PublishedCell:
    return next(cell for cell in cs244.read_cells() if cell.what == what)


def test_the_raw_run_has_66_configurations_of_which_the_figures_show_60() -> None:
    cells = cs244.read_cells()
    of_window = {(cell.experiment, cell.file.profile.id, cell.iw) for cell in cells}
    sizes = {(cell.x, cell.iw) for cell in cells if cell.experiment == "segments"}
    assert len({key for key in of_window if key[0] != "segments"}) + len(sizes) == 66
    assert (len(cells), len(cs244.whole_grid())) == (274, 60)


@pytest.mark.parametrize(
    ("what", "total_s"),
    [
        ("rtt: 1200 kbps, 1000 ms", 28.224787),
        ("bdp: 571.429 kbps, 70 ms", 17.98601767),
        ("iw: 1200 kbps, 70 ms", 8.96379667),
    ],
)
def test_the_medians_add_up_to_the_means_that_the_run_prints(what: str, total_s: float) -> None:
    files = [
        cell.seconds
        for cell in cs244.read_cells()
        if cell.what.startswith(what) and cell.what.endswith("IW 10")
    ]
    assert len(files) == 5
    assert sum(files) == pytest.approx(total_s, rel=0.015)  # the means count the first sample, with ARP


def test_slow_start_that_ends_early_gives_the_times_of_long_round_trips_at_three_segments() -> None:
    for what in (
        "rtt: 1200 kbps, 500 ms, 399,644 B, IW 3",
        "rtt: 1200 kbps, 1000 ms, 168,604 B, IW 3",
        "rtt: 1200 kbps, 1000 ms, 475,867 B, IW 3",
    ):
        cell = published(what)
        seconds = with_an_early_end_of_slow_start(cell.file, 0.0)
        assert seconds == pytest.approx(cell.seconds, rel=0.015), what
    assert (
        with_an_early_end_of_slow_start(published("rtt: 1200 kbps, 500 ms, 399,644 B, IW 10").file, 0.0)
        is None
    )


def test_windows_double_up_to_hystarts_and_then_grow_as_cubic_does() -> None:
    flights = cubic_windows(3, 1.0)
    assert [next(flights) for _ in range(9)] == [3, 6, 12, 24, 24, 27, 34, 49, 74]


def test_a_cell_far_off_is_explained_by_what_predicts_it_and_else_counted() -> None:
    cell = published("bw: 256 kbps, 70 ms, 5,087 B, IW 3")

    def look(ours: float) -> tuple[int, float]:
        row = ComparedValue(what="a cell", unit="s", published=cell.seconds, ours=ours)
        rows, criterion = explain([cell.file], [row], "netem", "netem")
        return len(rows), criterion.measured

    two_packets_s = 2 * 1514 * 8 / 256_000
    assert look(cell.seconds) == (0, 0)
    assert look(cell.seconds + two_packets_s) == (1, 0)
    assert look(cell.seconds + 2 * two_packets_s) == (0, 1)


def with_gains(factor: float) -> dict[str, list[float]]:
    """The published times for either shaper, with every time at IW 3 multiplied."""
    times = [cell.seconds * (factor if cell.iw == 3 else 1.0) for cell in cs244.read_cells()]
    return dict.fromkeys(cs244.SHAPERS, times)


def test_gains_that_neither_shaper_gives_are_counted() -> None:
    cells = cs244.read_cells()
    assert cs244.check_gains(cells, with_gains(1.0)).passed
    assert cs244.check_gains(cells, with_gains(1.02)).passed
    far = cs244.check_gains(cells, with_gains(1.2))
    assert not far.passed
    assert far.measured > 15


def test_a_gain_that_one_shaper_gives_is_explained() -> None:
    cells = cs244.read_cells()
    first, second = cs244.SHAPERS
    times = {first: with_gains(1.2)[first], second: with_gains(1.0)[second]}
    assert cs244.check_gains(cells, times).passed


def test_gains_over_long_round_trips_are_explained_by_an_early_end_of_slow_start() -> None:
    cells = cs244.read_cells()
    times = [
        cell.seconds
        * (0.85 if cell.x in ("500", "1000") and cell.iw == 3 and cell.experiment == "rtt" else 1.0)
        for cell in cells
    ]
    assert cs244.check_gains(cells, dict.fromkeys(cs244.SHAPERS, times)).passed
