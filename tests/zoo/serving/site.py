"""One host of the zoo: who answers for it, and where what it answers is written down."""

from __future__ import annotations

import dataclasses
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localweb.certificates import Authority
    from localweb.log import TruthLog
    from tests.zoo.serving.handler import Handler, Reply, Request
    from tests.zoo.serving.security import Security


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """What every listener of a host shares."""

    host: str
    handler: Handler
    authority: Authority
    security: Security
    log: TruthLog
    failures: list[str]
    """Tracebacks of handlers that went wrong: the run is worth nothing then."""

    async def answer(self, request: Request, reply: Reply) -> None:
        """Let the handler act; returns when it is done, or the client has gone."""
        try:
            await self.handler(request, reply)
        except ConnectionError:
            pass
        except Exception:  # noqa: BLE001  # a mistake in a case: told at the end, by `ZooWeb.failures`
            self.failures.append(f"{request.method} {request.host}{request.target}\n{traceback.format_exc()}")
