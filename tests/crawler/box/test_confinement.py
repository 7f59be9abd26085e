"""Every process of a browser is confined, not its renderers alone, for root and for an ordinary user."""

from typing import Any

import pytest

from crawler.box import BROWSER_UID, HOME, PASSED_ON, VISIBLE
from tests.crawler.box.users import SECRETS, USERS, played

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
def found(request: pytest.FixtureRequest) -> dict[str, Any]:
    user, network = request.param
    return {"user": user, **played(user, "tests.crawler.box.looked_at", network)}


def boxed(found: dict[str, Any]) -> list[dict[str, Any]]:
    """List the processes inside the box, without bubblewrap's own outside, the first,
    which waits for their end."""
    processes: list[dict[str, Any]] = found["processes"]
    return processes[1:]


def test_every_kind_of_browser_process_is_examined(found: dict[str, Any]) -> None:
    assert {one["kind"] for one in boxed(found)} == KINDS


def test_browsers_of_a_root_crawl_run_as_another_user(found: dict[str, Any]) -> None:
    own = found["crawler"]["uids"][0]
    expected = str(BROWSER_UID) if found["user"] == "root" else own
    assert {uid for process in found["processes"] for uid in process["uids"]} == {expected}


def test_a_browser_has_no_capability_and_can_gain_none(found: dict[str, Any]) -> None:
    (box,) = {one["namespaces"]["user"] for one in boxed(found) if one["kind"] == "browser"}
    assert box != found["crawler"]["namespaces"]["user"]
    assert {process["no_new_privs"] for process in found["processes"]} == {"1"}
    assert not any(found["processes"][0]["capabilities"][name] for name in ("CapEff", "CapPrm", "CapAmb"))
    for one in boxed(found):
        if one["namespaces"]["user"] == box:
            assert set(one["capabilities"].values()) == {0}, one
        else:
            # Chromium's own, where the zygote that forks renderers has one capability over them alone.
            assert one["kind"] in {"zygote", "renderer"}
            assert one["root"] != "/"
        if one["kind"] == "renderer":
            assert one["capabilities"]["CapEff"] == one["capabilities"]["CapPrm"] == 0


def test_every_process_has_a_filter_of_system_calls(found: dict[str, Any]) -> None:
    assert {one["seccomp"] for one in boxed(found)} == {"2"}


def test_a_browser_lives_in_namespaces_of_its_own(found: dict[str, Any]) -> None:
    crawler = found["crawler"]["namespaces"]
    (browser,) = (one["namespaces"] for one in boxed(found) if one["kind"] == "browser")
    assert browser["net"] == found["network"]
    for one in boxed(found):
        for name, namespace in one["namespaces"].items():
            if name != "net":
                assert namespace != crawler[name], (one["kind"], name)
            if name not in SANDBOX_OF_CHROMIUM:
                assert namespace == browser[name], (one["kind"], name)
    assert (browser["net"] == crawler["net"]) == (found["network"] == crawler["net"])


def test_a_renderer_is_in_chromiums_own_sandbox_as_well(found: dict[str, Any]) -> None:
    (browser,) = (one["namespaces"] for one in boxed(found) if one["kind"] == "browser")
    renderers = [one for one in boxed(found) if one["kind"] == "renderer"]
    assert all(
        renderer["namespaces"][name] != browser[name]
        for renderer in renderers
        for name in SANDBOX_OF_CHROMIUM
    )


def test_a_browser_sees_the_listed_files_alone_and_can_write_none_of_the_machines(
    found: dict[str, Any],
) -> None:
    for one in boxed(found):
        if one["root"] != "/":
            assert one["mounts"] == []  # Chromium's sandbox shows nothing at all
            continue
        mounts = {mount["at"]: mount for mount in one["mounts"]}
        mounts = {at: mount for at, mount in mounts.items() if not at.startswith("/dev/") or at == "/dev/shm"}
        assert set(mounts) <= {"/", "/usr", "/proc/sys", "/dev", *VISIBLE, *WRITABLE}
        assert {at for at, mount in mounts.items() if mount["writable"]} == WRITABLE
        assert {mounts[at]["kind"] for at in ("/", "/dev", "/dev/shm", HOME)} == {"tmpfs"}


def test_a_browsers_environment_has_listed_names_alone(found: dict[str, Any]) -> None:
    assert set(SECRETS) <= set(found["crawler"]["variables"])
    for process in found["processes"]:
        # Chromium's children write their titles over it: then it has no names, or parts of the title.
        whole = [name for name in process["variables"] if name.isupper()]
        assert set(whole) <= ENVIRONMENT, process["kind"]
