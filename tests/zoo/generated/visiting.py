"""Visits a page that loads generated responses, and returns what the browser's
page and the crawler saw of them."""

import asyncio
import dataclasses
import importlib
import json
import os
from typing import Any

from hypothesis import Phase, given, seed, settings

from localweb.serving.channel import ProtocolViolation
from localweb.serving.handler import Reply, ServedRequest
from tests.crawler.visiting import visit_hosts
from tests.zoo.replies import bodiless, page
from tests.zoo.serving.server import Spoken, ZooWeb

HOST = "generated.test"
COUNT = int(os.environ.get("FIRSTFLIGHT_TEST_MESSAGES", "60"))
"""Messages of each protocol."""

SCRIPT = """<script>
const see = async (n, method) => {
  try {
    const r = await fetch(`/${n}`, {method, cache: 'no-store', signal: AbortSignal.timeout(10000)});
    const saw = {status: r.status, has_header: r.headers.has('x-seen'), body_bytes: null};
    try { saw.body_bytes = (await r.arrayBuffer()).byteLength; } catch {}
    return saw;
  } catch { return null; }
};
(async () => {
  const methods = METHODS, saw = [];
  let next = 0;
  const work = async () => { while (next < methods.length) { const n = next++; saw[n] = await see(n, methods[n]); } };
  await Promise.all([...Array(AT_ONCE)].map(work));
  await fetch('/saw', {method: 'POST', body: JSON.stringify(saw)});
})();
</script>"""  # noqa: E501


BATCH = 8
"""Messages drawn from a seed; of more, Hypothesis makes most by small changes to those before."""


def make_messages(module: str, count: int) -> list[Any]:
    """The first messages of a module's `messages`, the same at every call."""
    collected: list[Any] = []

    @settings(max_examples=BATCH, database=None, phases=[Phase.generate], deadline=None)
    @given(importlib.import_module(module).messages())
    def keep(message: Any) -> None:
        collected.append(message)

    for number in range(-(-count // BATCH)):
        seed(number)(keep)()
    return collected[:count]


def visit_generated(protocol: Spoken, module: str, at_once: int) -> dict[str, Any]:
    """Rows of the visit, what the page saw of each message (None if it was refused) and the server's log."""
    return asyncio.run(_visit(protocol, make_messages(module, COUNT), at_once))


async def _visit(protocol: Spoken, messages: list[Any], at_once: int) -> dict[str, Any]:
    saw: list[Any] = []
    methods = json.dumps([message.method for message in messages])
    document = page(SCRIPT.replace("METHODS", methods).replace("AT_ONCE", str(at_once)))

    async def handle(request: ServedRequest, reply: Reply) -> None:
        if request.path == "/saw":
            saw.extend(json.loads(request.body))
            await bodiless(status=204)(request, reply)
        elif request.path == "/":
            await document(request, reply)
        else:
            await messages[int(request.path[1:])].send(reply)

    web = ZooWeb({HOST: handle}, protocol=protocol)
    (seen,) = await visit_hosts(web, HOST, settle_s=30.0)
    # The browser's last frames on a connection that it ends are not always valid to the server's library.
    failures = [failure for failure in web.log.failures if ProtocolViolation.__name__ not in failure]
    assert not failures, "\n".join(failures)
    return {
        "visit": {name: seen.visit[name] for name in ("outcome", "coverage", "decrypted_coverage")},
        "connections": seen.connections,
        "responses": seen.responses,
        "saw": saw,
        "sent": [dataclasses.asdict(response) for response in web.log.responses],
    }
