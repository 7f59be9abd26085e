"""What docs/ethics.md and the page about the crawler say in numbers is what the code does."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from api.routes.pages import TEMPLATES
from crawler.visit import stored_values
from crawler.worker import claims
from firstflight.commands import database
from firstflight.commands.crawl.plan import plan
from firstflight.commands.crawl.run import run
from schema.vocabulary import RETRIED

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).parents[2]
ETHICS = " ".join((ROOT / "docs/ethics.md").read_text(encoding="utf-8").split())
PAGE = " ".join(
    TEMPLATES.get_template("crawler.html")
    .render(path_for=lambda *_, **__: "/", url=None, elsewhere=None, email=None)
    .split()
)


def default(command: click.Command, name: str) -> object:
    return next(option.default for option in command.params if option.name == name)


def test_the_defaults_of_a_plan_are_those_that_are_told() -> None:
    assert (default(plan, "loads"), default(plan, "inner_pages")) == (1, 0)
    assert "(`crawl plan`, `--loads 1`, `--inner 0`)" in ETHICS
    assert f"up to `--attempts` ({default(plan, 'attempts')})" in ETHICS
    assert default(plan, "attempts") == 2
    assert "Where it fails (no answer, a crash, time over), there is one more" in PAGE
    assert f"usually within {default(plan, 'budget_s'):.0f} seconds" in PAGE
    assert f"(`crawl run --browsers`, {default(run, 'browsers')} unless said otherwise)" in ETHICS


def test_retry_after_is_honoured_as_long_as_is_told() -> None:
    minutes = claims.RETRY_AFTER_LIMIT_S // 60
    assert f"is honoured up to {minutes} minutes" in ETHICS
    assert f"is honoured up to {minutes} minutes" in PAGE


def test_a_refusal_is_an_answer() -> None:
    assert "http_error" not in RETRIED
    assert "A status of 400 or more is an answer, not a failure" in ETHICS
    assert "a refusal is recorded and not evaded" in PAGE


def test_what_is_kept_is_as_long_as_is_told() -> None:
    assert f"cut at {stored_values.PATH_LIMIT:,} characters" in ETHICS
    assert default(database.backup_, "keep") == 4
    assert "| copies of the database in the data folder | the newest four |" in ETHICS


def test_robots_txt_is_told_to_be_unread_for_as_long_as_no_code_reads_it() -> None:
    found = subprocess.run(
        ["git", "grep", "-il", "robots", "--", "crawler"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout == ""
    assert "It is not read." in ETHICS
    assert "<code>robots.txt</code> is not read" in PAGE


def test_every_place_in_the_code_that_is_named_is_there() -> None:
    for path in re.findall(r"`((?:crawler|api|schema|dags)/[a-z_/.]+)`", ETHICS):
        assert (ROOT / path).is_file(), path
    for path in re.findall(r"`((?:decisions/)?[a-z0-9-]+\.md)`", ETHICS):
        assert (ROOT / "docs" / path).is_file(), path
