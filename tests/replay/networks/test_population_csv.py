"""A population from a file: what it becomes, and one line for each way of getting it wrong."""

import re
from pathlib import Path

import pytest

from replay.networks.population_csv import (
    MOST_ROWS,
    CsvPopulation,
    PopulationError,
    read_population,
    slow_part,
)

HEADER = "bandwidth_kbps,rtt_ms,loss,weight"
GOOD = f"{HEADER}\n20000,30,0,5\n1500,60.5,0.001,3\n400,200,0.01,2\n"


def imported(folder: Path, text: str, name: str = "ndt-2026-05.csv") -> CsvPopulation:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_population(path, measured="2026-05", source="M-Lab NDT, May 2026")


def test_a_row_is_a_network_and_weights_become_shares(tmp_path: Path) -> None:
    population = imported(tmp_path, GOOD)
    assert [
        (profile.id, profile.down_bps, profile.up_bps, profile.rtt_us, profile.loss)
        for profile in population.profiles
    ] == [
        ("ndt-2026-05-1", 20_000_000, 5_000_000, 30_000, 0.0),
        ("ndt-2026-05-2", 1_500_000, 375_000, 60_500, 0.001),
        ("ndt-2026-05-3", 400_000, 128_000, 200_000, 0.01),
    ]
    whole, slow = population.populations
    assert dict(whole.weights) == pytest.approx(
        {"ndt-2026-05-1": 0.5, "ndt-2026-05-2": 0.3, "ndt-2026-05-3": 0.2}
    )
    assert (whole.id, whole.slow, whole.measured, whole.source) == (
        "ndt-2026-05",
        False,
        "2026-05",
        "M-Lab NDT, May 2026",
    )
    assert (slow.id, slow.slow) == ("ndt-2026-05-slow", True)


def test_the_slow_part_is_the_quarter_of_the_weight_with_the_least_bandwidth(tmp_path: Path) -> None:
    population = imported(tmp_path, GOOD)
    assert dict(slow_part(population.profiles, [0.5, 0.3, 0.2])) == pytest.approx(
        {"ndt-2026-05-3": 0.8, "ndt-2026-05-2": 0.2}
    )
    assert dict(slow_part(population.profiles, [0.1, 0.1, 0.8])) == pytest.approx({"ndt-2026-05-3": 1.0})


def test_uplink_and_queue_are_taken_where_the_file_has_them(tmp_path: Path) -> None:
    text = "weight,loss,rtt_ms,bandwidth_kbps,up_kbps,queue_bytes\n1,0,30,20000,20000,250000\n"
    (profile,) = imported(tmp_path, text).profiles
    assert (profile.up_bps, profile.queue_bytes, profile.discipline) == (20_000_000, 250_000, "tail-drop")


def test_numbers_may_be_written_in_every_way_that_python_reads(tmp_path: Path) -> None:
    (profile,) = imported(tmp_path, f"{HEADER}\n2e4, 30 ,.01,+1\n").profiles
    assert (profile.down_bps, profile.rtt_us, profile.loss) == (20_000_000, 30_000, 0.01)


def test_a_network_may_have_a_fair_queue(tmp_path: Path) -> None:
    profiles = imported(tmp_path, f"{HEADER},discipline\n20000,30,0,1,cake\n20000,30,0,1,fq_codel\n").profiles
    assert [profile.discipline for profile in profiles] == ["cake", "fq_codel"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "its first line does not name bandwidth_kbps, rtt_ms, loss, weight"),
        (f"{HEADER}\n", "has no network below its header"),
        ("bandwidth_kbps,rtt_ms,weight\n1,2,3\n", "its first line does not name loss"),
        (f"{HEADER},colour\n20000,30,0,1,red\n", "line 2: Object contains unknown field `colour`"),
        (f"{HEADER},weight\n", "names a column twice"),
        (
            f"{HEADER}\n20000,30,0,1\nfast,30,0,1\n",
            "line 3: Expected `float`, got `str` - at `$.bandwidth_kbps`",
        ),
        (f"{HEADER}\n20000,,0,1\n", "line 2: Expected `float`, got `str` - at `$.rtt_ms`"),
        (f"{HEADER}\n20000,30\n", "line 2: fewer values than columns"),
        (f"{HEADER},slow_weight\n20000,30,0,1,1\n20000,30,0,1\n", "line 3: fewer values than columns"),
        (f"{HEADER},slow_weight\n20000,30,0,1,null\n20000,30,0,1,1\n", "line 2: Expected `float | null`"),
        (f"{HEADER}\n20000,30,1.5,1\n", "line 2: Expected `float` <= 0.5 - at `$.loss`"),
        (f"{HEADER}\n20000,30,nan,1\n", "line 2: Expected `float`"),
        (f"{HEADER}\n20000,30,0,0\n", "line 2: Expected `float` >= 1e-12 - at `$.weight`"),
        (f"{HEADER}\n20000,30,0,-1\n", "line 2: Expected `float` >= 1e-12 - at `$.weight`"),
        (
            f"{HEADER},discipline\n20000,30,0,1,red\n",
            "line 2: Invalid enum value 'red' - at `$.discipline`",
        ),
        (f"{HEADER}\n20000,30,0,1,5\n", "line 2: more values than columns"),
        (f"{HEADER}\n" + "20000,30,0,1\n" * (MOST_ROWS + 1), f"more than {MOST_ROWS} networks"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(PopulationError, match=re.escape(why)) as caught:
        imported(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ndt.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PopulationError, match="cannot be read as CSV"):
        read_population(tmp_path / "ndt.csv", measured="2026-05", source="x")


def test_name_month_and_source_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match="its name becomes the population's id"):
        imported(tmp_path, GOOD, name="My networks.csv")
    path = tmp_path / "ndt.csv"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(PopulationError, match="population_measured is 2026, not a month"):
        read_population(path, measured="2026", source="x")
    with pytest.raises(PopulationError, match="say where the population comes from"):
        read_population(path, measured="2026-05", source=" ")
