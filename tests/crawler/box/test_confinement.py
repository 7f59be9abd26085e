"""Every process of a browser is confined, not its renderers alone, for root and for an ordinary user."""

from typing import Any

import pytest

from crawler.box import BROWSER_UID, HOME, PASSED_ON, VISIBLE
from tests.crawler.box.confinement import SECRETS
from tests.crawler.box.test_attacks import USERS
from tests.crawler.namespaces import play

pytestmark = pytest.mark.browser

KINDS = {"bwrap", "browser", "zygote", "gpu-process", "utility", "renderer"}
"""The utility is the network service, which parses what servers send."""

ENVIRONMENT = {"PATH", "HOME", "PWD", "OLDPWD", *PASSED_ON}

WRITABLE = {"/proc", "/dev/shm", HOME}
"""Of the browser's own making; devices and pseudo-terminals apart.

The kernel lets nobody but root write in /proc, who is not there.
"""

SANDBOX_OF_CHROMIUM = {"net", "pid", "user"}


@pytest.fixture(
    scope="module", params=[(user, network) for user in USERS for network in ("guarded", "unguarded")]
)
def result(request: pytest.FixtureRequest) -> dict[str, Any]:
    user, network = request.param
    return {"user": user, **play("tests.crawler.box.looked_at", network, user=user, environment=SECRETS)}


def boxed(result: dict[str, Any]) -> list[dict[str, Any]]:
    """List the processes inside the box, without bubblewrap's own outside, the first,
    which waits for their end."""
    processes: list[dict[str, Any]] = result["processes"]
    return processes[1:]


def test_every_kind_of_browser_process_is_examined(result: dict[str, Any]) -> None:
    assert {process["kind"] for process in boxed(result)} == KINDS


def test_browsers_of_a_root_crawl_run_as_another_user(result: dict[str, Any]) -> None:
    own = result["crawler"]["uids"][0]
    expected = str(BROWSER_UID) if result["user"] == "root" else own
    assert {uid for process in result["processes"] for uid in process["uids"]} == {expected}


def test_a_browser_has_no_capability_and_can_gain_none(result: dict[str, Any]) -> None:
    (box,) = {process["namespaces"]["user"] for process in boxed(result) if process["kind"] == "browser"}
    assert box != result["crawler"]["namespaces"]["user"]
    assert {process["no_new_privs"] for process in result["processes"]} == {"1"}
    assert not any(result["processes"][0]["capabilities"][name] for name in ("CapEff", "CapPrm", "CapAmb"))
    for process in boxed(result):
        if process["namespaces"]["user"] == box:
            assert set(process["capabilities"].values()) == {0}, process
        else:
            # Chromium's own, where the zygote that forks renderers has one capability over them alone.
            assert process["kind"] in {"zygote", "renderer"}
            assert process["root"] != "/"
        if process["kind"] == "renderer":
            assert process["capabilities"]["CapEff"] == process["capabilities"]["CapPrm"] == 0


def test_every_process_has_a_filter_of_system_calls(result: dict[str, Any]) -> None:
    assert {process["seccomp"] for process in boxed(result)} == {"2"}


def test_a_browser_lives_in_namespaces_of_its_own(result: dict[str, Any]) -> None:
    crawler = result["crawler"]["namespaces"]
    (browser,) = (process["namespaces"] for process in boxed(result) if process["kind"] == "browser")
    assert browser["net"] == result["network"]
    for process in boxed(result):
        for name, namespace in process["namespaces"].items():
            if name != "net":
                assert namespace != crawler[name], (process["kind"], name)
            if name not in SANDBOX_OF_CHROMIUM:
                assert namespace == browser[name], (process["kind"], name)
    assert (browser["net"] == crawler["net"]) == (result["network"] == crawler["net"])


def test_a_renderer_is_in_chromiums_own_sandbox_as_well(result: dict[str, Any]) -> None:
    (browser,) = (process["namespaces"] for process in boxed(result) if process["kind"] == "browser")
    renderers = [process for process in boxed(result) if process["kind"] == "renderer"]
    assert all(
        renderer["namespaces"][name] != browser[name]
        for renderer in renderers
        for name in SANDBOX_OF_CHROMIUM
    )


def test_a_browser_sees_the_listed_files_alone_and_can_write_none_of_the_machines(
    result: dict[str, Any],
) -> None:
    for process in boxed(result):
        if process["root"] != "/":
            assert process["mounts"] == []  # Chromium's sandbox shows nothing at all
            continue
        mounts = {mount["at"]: mount for mount in process["mounts"]}
        mounts = {at: mount for at, mount in mounts.items() if not at.startswith("/dev/") or at == "/dev/shm"}
        assert set(mounts) <= {"/", "/usr", "/proc/sys", "/dev", *VISIBLE, *WRITABLE}
        assert {at for at, mount in mounts.items() if mount["writable"]} == WRITABLE
        assert {mounts[at]["kind"] for at in ("/", "/dev", "/dev/shm", HOME)} == {"tmpfs"}


def test_a_browsers_environment_has_listed_names_alone(result: dict[str, Any]) -> None:
    assert set(SECRETS) <= set(result["crawler"]["variables"])
    for process in result["processes"]:
        # Chromium's children write their titles over it: then it has no names, or parts of the title.
        whole = [name for name in process["variables"] if name.isupper()]
        assert set(whole) <= ENVIRONMENT, process["kind"]
