"""The command of the back-cast."""

from click.testing import CliRunner

from firstflight.main import main


def test_the_back_cast_says_what_it_judges_and_what_it_takes() -> None:
    done = CliRunner().invoke(main, ["replay", "backcast", "--help"])
    assert done.exit_code == 0
    assert "firstflight replay backcast --seeds 10 --json" in done.output


def test_a_back_cast_of_no_seeds_is_refused() -> None:
    done = CliRunner().invoke(main, ["replay", "backcast", "--seeds", "0"])
    assert done.exit_code == 2
    assert "--seeds" in done.output
