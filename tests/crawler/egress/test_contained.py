"""In a container of the stack, one capability suffices to set up, check and mend the guard."""

import os
from pathlib import Path

import pytest

from tests.crawler.egress.breaking import REACHED, REFUSED
from tests.crawler.namespaces import play


@pytest.mark.process
def test_with_one_capability_and_no_sysctl_a_guard_is_set_up_and_mended(server_folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.fail("to become another user takes root: run the tests as root")
    result = play("tests.crawler.egress.contained", folder=server_folder / "contained")
    whole, broken, mended = result["fault"]
    assert (whole, mended) == ("", "")
    assert "the link's outer end" in broken
    assert result["reached"] == dict.fromkeys(REACHED, "reached")
    assert result["refused"] == dict.fromkeys(REFUSED, "ConnectionRefusedError")
    assert result["captured"]
