"""What the zoo's server says it sent."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from localweb.log import SentConnection, SentResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.zoo.serving.server import ZooWeb


@dataclasses.dataclass(slots=True)
class Truth:
    """All of a run."""

    connections: list[SentConnection] = dataclasses.field(default_factory=list)
    responses: list[SentResponse] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    """Of handlers: with any, the rest is worth nothing."""

    def of(self, connection: SentConnection) -> list[SentResponse]:
        """A connection's responses, in the order of asking."""
        return [one for one in self.responses if one.connection_id == connection.id]


def lines(web: ZooWeb) -> Iterator[str]:
    """As JSON lines."""
    yield from web.log.lines()
    for failure in web.failures:
        yield json.dumps({"kind": "failure", "what": failure})


def parse(written: Iterable[str]) -> Truth:
    """The same back."""
    truth = Truth()
    for line in written:
        entry: dict[str, Any] = json.loads(line)
        kind = entry.pop("kind")
        if kind == "connection":
            truth.connections.append(SentConnection(**entry))
        elif kind == "response":
            truth.responses.append(SentResponse(**entry))
        elif kind == "failure":
            truth.failures.append(entry["what"])
    return truth
