"""Stored populations: the bundled ones are what the code makes, and a changed file is refused."""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from replay.networks.mlab.files import find_month, read_countries
from replay.networks.mlab.populations import populations_of
from replay.networks.population_csv import PopulationError
from replay.networks.stored_populations import (
    BUNDLED,
    CHECKSUM,
    CURRENT,
    NewPopulation,
    check_population,
    facts_of,
    find_population,
    list_stored,
    new_population,
    store,
)

ROWS = "bandwidth_kbps,rtt_ms,loss,weight,slow_weight\n20000,30,0,5,0\n400,200,0.01,2,1\n"


def new(content: str = ROWS) -> NewPopulation:
    facts = {"id": "own-2026-05", "measured": "2026-05", "source": "tests"}
    return new_population(content, **facts, parameters={}, percentiles={})


def test_the_bundled_populations_are_those_that_the_code_makes() -> None:
    countries = read_countries(find_month("2025-10")).countries
    populations = {population.id: population for population in populations_of(countries, "2025-10")}
    for rho in (-0.6, 0.0):  # the ends of its range in the ledger
        world = next(populations_of(countries, "2025-10", rho=rho))
        populations[world.id] = world
    assert sorted(populations) == sorted(path.stem for path in BUNDLED.glob("*.csv"))
    for name, population in populations.items():
        assert (BUNDLED / f"{name}.csv").read_text(encoding="utf-8") == population.content, name
        assert facts_of(BUNDLED, name).source == population.source


def test_the_bundled_populations_are_read_with_their_slow_part(tmp_path: Path) -> None:
    assert [facts.id for facts in list_stored(tmp_path)] == [
        "mlab-2025-10",
        "mlab-2025-10-crux",
        "mlab-2025-10-r00",
        "mlab-2025-10-r60",
        "mlab-2025-10-slow20",
        "mlab-2025-10-users",
    ]
    for facts in list_stored(tmp_path):
        whole, slow = find_population(tmp_path, facts.id).populations
        assert len(whole.weights) == facts.networks >= 48
        assert sum(weight for _, weight in whole.weights) == pytest.approx(1)
        assert sum(weight for _, weight in slow.weights) == pytest.approx(1)
        assert len(slow.weights) == 16
        assert (whole.measured, whole.checksum, whole.is_stored) == (facts.measured, facts.sha256, True)
        assert CURRENT in facts.id


def test_a_population_is_stored_and_found_again(tmp_path: Path) -> None:
    facts = store(tmp_path, new())
    assert facts in list_stored(tmp_path)
    whole, slow = find_population(tmp_path, "own-2026-05").populations
    assert dict(whole.weights) == pytest.approx({"own-2026-05-1": 5 / 7, "own-2026-05-2": 2 / 7})
    assert dict(slow.weights) == {"own-2026-05-2": 1.0}
    assert store(tmp_path, new()) == facts


def test_an_id_is_never_given_to_other_networks(tmp_path: Path) -> None:
    store(tmp_path, new())
    with pytest.raises(PopulationError, match="is stored already, with other networks"):
        store(tmp_path, new(ROWS.replace("20000", "30000")))


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    store(tmp_path, new())
    (tmp_path / "own-2026-05.csv").write_text(ROWS.replace("20000", "30000"), encoding="utf-8")
    with pytest.raises(PopulationError, match="is damaged"):
        find_population(tmp_path, "own-2026-05")


def test_a_torn_file_is_told_as_damage_and_not_by_its_bad_line(tmp_path: Path) -> None:
    store(tmp_path, new())
    with (tmp_path / "own-2026-05.csv").open("ab") as file:
        file.write(b"\xff")
    with pytest.raises(PopulationError, match=r"is damaged, .* make the population again"):
        find_population(tmp_path, "own-2026-05")


def test_a_bit_that_flips_in_the_facts_is_found(tmp_path: Path) -> None:
    store(tmp_path, new())
    path = tmp_path / "own-2026-05.json"
    content = path.read_bytes()
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(PopulationError, match="make the population again"):
            find_population(tmp_path, "own-2026-05")


def test_a_file_with_the_id_of_a_bundled_population_is_read_and_compared_with_it(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match="with other networks: it is bundled"):
        store(tmp_path, dataclasses.replace(new(), id=CURRENT))
    for suffix in ("csv", "json"):
        shutil.copy(BUNDLED / f"{CURRENT}.{suffix}", tmp_path)
    assert len(check_population(tmp_path, CURRENT).profiles) == 64
    (tmp_path / f"{CURRENT}.csv").write_text(ROWS, encoding="utf-8")
    with pytest.raises(PopulationError, match="is damaged, since its SHA-256"):
        check_population(tmp_path, CURRENT)
    store(tmp_path, new())
    described = json.loads((tmp_path / "own-2026-05.json").read_text(encoding="utf-8")) | {"id": CURRENT}
    described.pop(CHECKSUM)
    checksum = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
    (tmp_path / f"{CURRENT}.json").write_text(json.dumps({**described, CHECKSUM: checksum}), encoding="utf-8")
    with pytest.raises(PopulationError, match="never read, since the bundled population"):
        check_population(tmp_path, CURRENT)


def test_an_id_is_no_path(tmp_path: Path) -> None:
    store(tmp_path, new())
    (tmp_path / "further").mkdir()
    with pytest.raises(PopulationError, match="no stored population"):
        find_population(tmp_path / "further", "../own-2026-05")


def test_an_unknown_id_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match="stored are mlab-2025-10, mlab"):
        find_population(tmp_path, "ndt")


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps({"id": "x"})])
def test_a_broken_description_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(PopulationError, match="does not describe a population"):
        list_stored(tmp_path)
