"""`python -m crawler.control.probe REQUEST`: asks canaries from the browsers' network, and resolves names
there.

It is a process of its own, since it enters the address guard's namespaces and drops every capability, as a
browser does. REQUEST and the output are JSON of a Request and a Result. Of libraries it uses Python's alone,
since it starts every few seconds while visits fail.
"""

import ctypes
import dataclasses
import encodings.idna  # noqa: F401  # imported by name with the first host; in the guard its file may not be readable
import http.client
import json
import os
import queue
import secrets
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from crawler.control.canaries import Canary

FIRST_WITHIN_S = 2.0

WITHIN_S = 6.0
"""Time limit of the probe, in seconds: enough for two DNS queries and a lost SYN."""

MOST_UNRESOLVED = 1
"""Questions for names that may fail while the resolver counts as good: a zone's own servers may be at
fault."""

READ_BYTES = 1024

LOCAL_PORTS = range(10_000, 30_000)
"""Local ports, which no browser has: the capture of its network leaves them out."""

# linux/sched.h, linux/prctl.h
CLONE_NEWUSER = 0x1000_0000
PR_SET_NO_NEW_PRIVS = 38


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """The canaries and names to probe."""

    canaries: list[Canary]
    names: list[str] = dataclasses.field(default_factory=list)
    namespace_pid: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """Whether a canary answered as expected and the names resolve."""

    good: bool
    errors: dict[str, str]
    resolver: bool = False


def main() -> int:
    """Return exit code 1 if the guard cannot be entered, 0 whatever the canaries answer."""
    given = json.loads(sys.argv[1])
    request = Probe(**given | {"canaries": [Canary(**canary) for canary in given["canaries"]]})
    result, code = None, 0
    if request.namespace_pid is not None:
        try:
            enter(request.namespace_pid)
        except OSError as exc:
            result, code = ProbeResult(good=False, errors={"the address guard": exc.strerror or str(exc)}), 1
    print(json.dumps(dataclasses.asdict(result or probe(request))), flush=True)
    return code


def enter(namespace_pid: int) -> None:
    """Become the browsers' user in the browsers' network, without capabilities over it."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid = Path(f"/proc/{namespace_pid}").stat().st_uid
    namespaces = [os.open(f"/proc/{namespace_pid}/ns/{kind}", os.O_RDONLY) for kind in ("user", "net")]
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    for namespace in namespaces:
        _check(libc.setns(namespace, 0))
        os.close(namespace)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # Root in a child of the network's user namespace has no capability over the rules.
    _check(libc.unshare(CLONE_NEWUSER))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def probe(request: Probe) -> ProbeResult:
    deadline = time.monotonic() + WITHIN_S
    names = request.names
    asked = [*names, *(f"{secrets.token_hex(6)}.{name}" for name in names)]
    resolved: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    for name in asked:
        threading.Thread(
            target=lambda name=name: resolved.put((name, resolve(name, is_known=name in names))), daemon=True
        ).start()
    result = ask_canaries(request.canaries, deadline)
    if not result.good:
        return result
    failed = dict.fromkeys(asked, "no answer in time")
    while failed and (left_s := deadline - time.monotonic()) > 0:
        try:
            name, error = resolved.get(timeout=left_s)
        except queue.Empty:
            break
        if error:
            failed[name] = error
        else:
            del failed[name]
        if len(failed) <= MOST_UNRESOLVED or "no answer in time" not in failed.values():
            break
    return ProbeResult(good=False, errors=failed, resolver=True) if len(failed) > MOST_UNRESOLVED else result


def resolve(name: str, *, is_known: bool) -> str:
    """Return what is wrong with our resolver's answer for a name.

    A made-up name is in no cache: that it does not exist is an answer, and that its servers were not reached
    is none.
    """
    try:
        socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as exc:
        is_answer = isinstance(exc, socket.gaierror) and exc.errno != socket.EAI_AGAIN
        return "" if is_answer and not is_known else exc.strerror or str(exc)
    return ""


def ask_canaries(canaries: list[Canary], deadline: float) -> ProbeResult:
    """Ask the first canary, and all others if it does not answer soon, until one answers well."""
    answers: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    errors: dict[str, str] = {}
    for group, until in ((canaries[:1], deadline - WITHIN_S + FIRST_WITHIN_S), (canaries[1:], deadline)):
        for canary in group:
            threading.Thread(
                target=lambda canary=canary: answers.put((canary.id, ask_canary(canary))), daemon=True
            ).start()
            errors[canary.id] = "no answer in time"
        while (left_s := until - time.monotonic()) > 0 and "no answer in time" in errors.values():
            try:
                name, errors[name] = answers.get(timeout=left_s)
            except queue.Empty:
                break
            if not errors[name]:
                return ProbeResult(good=True, errors={name: ""})
    return ProbeResult(good=False, errors=errors)


def ask_canary(canary: Canary) -> str:
    url = urlsplit(canary.url)
    connection = http.client.HTTPConnection(
        url.hostname or "", url.port, timeout=WITHIN_S, source_address=("", secrets.choice(LOCAL_PORTS))
    )
    try:
        connection.request(
            "GET", url._replace(scheme="", netloc="").geturl() or "/", headers={"User-Agent": "firstflight"}
        )
        response = connection.getresponse()
        body = response.read(READ_BYTES).decode("latin-1")
    except OSError as exc:
        return exc.strerror or str(exc) or "no answer in time"
    except http.client.HTTPException as exc:
        return f"no HTTP: {exc}"
    finally:
        connection.close()
    good = response.status < 300 if canary.status is None else response.status == canary.status
    if not good:
        return f"status {response.status}"
    return "" if body.startswith(canary.body) else "another body than its own"


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # does not wait for threads that wait for a nameserver
