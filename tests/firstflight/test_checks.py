import dataclasses
import importlib.machinery
import os
import time
from pathlib import Path

import pytest

from firstflight import checks
from firstflight.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho Chromium 156.0\n")
    browser.chmod(0o755)
    return Settings(data_dir=tmp_path, cache_dir=tmp_path, database_url=None, chromium=browser)


def test_packages_of_firstflight_are_its_own(settings: Settings) -> None:
    assert checks.check_packages(settings).state == "ok"


def test_a_package_that_another_distribution_has_too_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {"schema": ["firstflight", "schema"], "docs": ["firstflight"]}
    monkeypatch.setattr("importlib.metadata.packages_distributions", lambda: owners)
    finding = checks.check_packages(settings)
    assert finding.state == "missing"
    assert finding.found == "the package `schema` is not firstflight's: schema"


def test_a_package_that_a_file_elsewhere_hides_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.machinery.ModuleSpec("api", None, origin="/elsewhere/api.py")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: spec)
    finding = checks.check_packages(settings)
    assert (finding.state, finding.found) == (
        "missing",
        "the package `api` is not firstflight's: /elsewhere/api.py",
    )


def test_extras_that_are_not_installed_are_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "EXTRAS", {"crawler": "no_such_package", "api": "granian"})
    finding = checks.check_packages(settings)
    assert (finding.state, finding.remedy) == ("warning", "install firstflight[crawler]")


def test_a_browser_of_today_is_fine(settings: Settings) -> None:
    finding = checks.check_chromium(settings)
    assert finding.state == "ok"
    assert finding.found.startswith("Chromium 156.0, built ")


def test_a_browser_whose_hsts_list_expires_is_a_warning(settings: Settings) -> None:
    then = time.time() - checks.BROWSER_STALE_DAYS * 86_400 - 60
    os.utime(settings.chromium, (then, then))
    assert checks.check_chromium(settings).state == "warning"


def test_a_missing_browser_names_its_package(settings: Settings) -> None:
    settings.chromium.unlink()
    finding = checks.check_chromium(settings)
    assert finding.state == "missing"
    assert "chromium-headless-shell" in finding.remedy


def test_an_unreachable_database_is_said_in_one_line(settings: Settings) -> None:
    nowhere = dataclasses.replace(settings, database_url="postgresql://127.0.0.1:1/none")
    finding = checks.check_postgresql(nowhere)
    assert finding.state == "missing"
    assert "\n" not in finding.found


def test_a_missing_kernel_says_how_to_build_it(settings: Settings) -> None:
    finding = checks.check_guest_kernel(settings)
    assert finding.state == "missing"
    assert finding.remedy == "firstflight replay build-lab"


def test_a_box_that_can_be_made_is_fine(settings: Settings) -> None:
    assert checks.check_browser_box(settings).state == "ok"


def test_a_missing_bubblewrap_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.box.PROGRAM", "no-bubblewrap-here")
    finding = checks.check_browser_box(settings)
    assert finding.state == "missing"
    assert finding.remedy == "apt-get install bubblewrap"


def test_an_address_guard_that_cannot_be_is_a_warning_that_names_the_way_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda executable, path: None)
    finding = checks.check_address_guard(settings)
    assert finding.state == "warning"
    assert "nftables" in finding.remedy
    assert "unfiltered_egress=true" in finding.remedy


def test_a_data_folder_that_everybody_could_exchange_is_said_with_its_remedy(settings: Settings) -> None:
    settings.data_dir.mkdir(exist_ok=True)
    settings.data_dir.chmod(0o777)
    finding = checks.check_writable("data", settings.data_dir)
    assert finding.state == "missing"
    assert finding.remedy == f"run `chmod o-w {settings.data_dir}` first"


def test_a_key_that_cannot_sign_is_a_warning(settings: Settings) -> None:
    assert checks.check_signatures(settings).state == "ok"
    keyless = dataclasses.replace(settings, signing_key=settings.data_dir / "none")
    finding = checks.check_signatures(keyless)
    assert (finding.state, "cannot sign" in finding.found) == ("warning", True)


def test_networks_that_are_none_are_named_before_a_crawl_finds_them(settings: Settings) -> None:
    finding = checks.check_address_guard(dataclasses.replace(settings, blocked_networks="9.9.9.9 9.9.9.300"))
    assert finding.state == "missing"
    assert "'9.9.9.300'" in finding.found
    assert finding.remedy == "correct FIRSTFLIGHT_BLOCKED_NETWORKS"


@pytest.mark.parametrize(
    ("resolvers", "state", "words"),
    [
        ("none", "warning", "none is named"),
        ("127.0.0.1#1", "warning", "no answer from 127.0.0.1#1"),
        ("gogle", "missing", "'gogle' is no resolver"),
    ],
)
def test_second_resolvers_that_do_not_answer_are_said_before_a_crawl_needs_them(
    settings: Settings, resolvers: str, state: str, words: str
) -> None:
    finding = checks.check_resolvers(dataclasses.replace(settings, resolvers=resolvers))
    assert (finding.state, words in finding.found) == (state, True)
    assert "FIRSTFLIGHT_RESOLVERS" in finding.remedy
