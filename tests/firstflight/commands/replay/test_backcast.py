"""The command of the back-cast."""

from click.testing import CliRunner

from firstflight.main import main


def test_a_back_cast_of_no_seeds_is_refused() -> None:
    done = CliRunner().invoke(main, ["replay", "backcast", "--seeds", "0"])
    assert done.exit_code == 2
    assert "--seeds" in done.output
