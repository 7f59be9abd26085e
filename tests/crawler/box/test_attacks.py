"""A process in the browser's place, with its user and its view of the machine, gains nothing."""

import os
from pathlib import Path

import pytest

from tests.crawler.box.confinement import SECRETS
from tests.crawler.namespaces import ORDINARY_UID, play

pytestmark = pytest.mark.browser

USERS = ["root", "net admin"] if os.geteuid() == 0 else ["net admin"]

NOTHING = {
    "environment": [],
    "environments": 0,
    "command_lines": 0,
    "folders": [],
    "database": "FileNotFoundError",
    "replaced": [],
    "switched": False,
    "writable": [],
    "sockets": [],
    "undone": [],
    "killed": [],
}


@pytest.mark.parametrize("network", ["guarded", "unguarded"])
@pytest.mark.parametrize("user", USERS)
def test_a_compromised_browser_reaches_nothing_of_the_crawlers(
    user: str, network: str, server_folder: Path
) -> None:
    folder = server_folder / f"{user}-{network}"  # pytest's own may not be entered by others
    folder.mkdir()
    if os.geteuid() == 0 and user != "root":
        os.chown(folder, ORDINARY_UID, ORDINARY_UID)
    module = "tests.crawler.box.attacked"
    assert play(module, str(folder), network, user=user, environment=SECRETS) == NOTHING
