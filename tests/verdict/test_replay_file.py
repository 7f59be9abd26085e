"""The file that describes a replay: its presets, its values, and what is refused."""

import shlex
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest

from replay.runs.conditions import Conditions, Loss
from replay.runs.policy import Policy
from verdict.replay_file import PRESETS, ReplayFile, command_of, file_schema, read_file


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_a_file_and_as_the_schema_has_it(name: str) -> None:
    values = tomllib.loads(PRESETS[name].read_text(encoding="utf-8"))
    jsonschema.validate(values, msgspec.to_builtins(file_schema()))
    assert read_file(name) == read_file(str(PRESETS[name]))


def test_the_edition_is_the_replay_of_a_file_without_values() -> None:
    assert read_file("edition") == read_file(None) == ReplayFile()


def test_the_schema_refuses_names_and_values_that_are_none() -> None:
    schema = msgspec.to_builtins(file_schema())
    for values in (
        {"windows": ["10"]},
        {"seeds": 0},
        {"senders": "all"},
        {"conditions": {"weather": ["rain"]}},
        {"conditions": {"http": ["h9"]}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(values, schema)


def test_stored_stages_are_those_of_the_same_file() -> None:
    # Folders of decisions end in these: another one would be replayed anew.
    assert ReplayFile().checksum == "024142d9"
    assert "until" not in ReplayFile().asked


def test_values_are_set_over_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('until = "all"\nseeds = 5\n[conditions]\nhttp = ["h1", "h2"]\n', encoding="utf-8")
    settings = ("seeds=2", "candidates=16p", "pages=2026-11", "conditions.loss=own,0.01", "networks=a.csv")
    file = read_file(str(path), settings)
    assert (file.seeds, file.candidates, file.pages, file.networks) == (2, ("16 paced",), "2026-11", "a.csv")
    assert file.rule.candidates == (Policy(16, "paced"),)
    assert file.loaded == (Policy(10), Policy(16, "paced"))
    assert file.combinations() == [
        Conditions(http=version, loss=loss) for version in ("h1", "h2") for loss in (None, Loss(share=0.01))
    ]
    assert read_file(None, ("pages=one.har,two.json",)).pages == ("one.har", "two.json")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("windows=10", "windows"),
        ("budget_minutes", "give NAME=VALUE"),
        ("budget_minutes=-1", "budget_minutes"),
        ("until=never", "until"),
        ("seeds=0", "seeds"),
        ("seeds=3", "until = decided takes no seeds"),
        ("candidates=3,x", "candidates"),
        ("candidates=0", "windows of 1 to 250 segments"),
        (f"candidates={','.join(map(str, range(1, 50)))}", "room for 48, and these are 49"),
        ("arms=slow", "not slow"),
        ("rule_version=6", "rule 6 is that of commit"),
        ("incumbent='6'", "incumbent: it is 10 where a policy is for connections beyond"),
        ("queues=deep", "queues is one of .* not deep"),
        ("senders=all", "senders is one of .* not all"),
        ("conditions.weather=rain", "conditions has no weather"),
        ("conditions.http=h9", "conditions.http is one of recorded, h1, h2, not 'h9'"),
    ],
)
def test_a_name_or_a_value_that_is_none_is_refused_by_name_in_one_line(setting: str, message: str) -> None:
    with pytest.raises((ValueError, msgspec.ValidationError), match=message) as refused:
        read_file(None, (setting,))
    assert "\n" not in str(refused.value)


def test_a_replay_of_all_takes_no_field_of_a_decision() -> None:
    with pytest.raises(ValueError, match="until = all takes no run and no arms"):
        read_file("demo", ("run=1", "arms=[]"))


def test_a_file_that_is_none_is_refused_with_the_presets(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no file and none of the presets confirmation, demo"):
        read_file("editon")
    path = tmp_path / "broken.toml"
    path.write_text("pages =", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.toml: "):
        read_file(str(path))


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("edition", ("pages=2026-11", "run=2", "arms=[]", "candidates=10,16 paced", "budget_minutes=0.5")),
        ("demo", ("pages=2026-11", "networks=wpt-cable,wpt-3g", "conditions.loss=own,0.01x4")),
        (
            "har",
            ("pages=a page.har", "population_source=M-Lab's NDT", "conditions.prioritised=[false, true]"),
        ),
    ],
)
def test_the_command_of_what_was_asked_asks_the_same(name: str, setting: tuple[str, ...]) -> None:
    file = read_file(name, setting)
    _, _, _, *words = shlex.split(command_of(file.asked))
    preset = words.pop(0) if words[0] != "--set" else None
    assert read_file(preset, words[1::2]) == file
