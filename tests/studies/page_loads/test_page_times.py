"""The kept times of pages lead to the same comparison as all loads."""

from pathlib import Path

from studies.page_loads import page_times
from studies.page_loads.comparing import compare, measure_all
from tests.studies.page_loads.test_comparing import NETWORK, REAL, REPLAYED, loads


def test_what_is_kept_leads_to_the_same_comparison(tmp_path: Path) -> None:
    times = measure_all(loads(REAL, 0.9, 1.0, 1.1, 1.2), loads(REPLAYED, 1.0), [NETWORK])
    page_times.write(tmp_path / "times.csv", times)
    assert compare(page_times.read(tmp_path / "times.csv")) == compare(times)
