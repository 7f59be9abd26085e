"""Policies of servers: how large a first flight may be, how it is sent, and for which connections."""

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, cast

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

Sending = Literal["spread", "paced", "at once"]
"""Way in which the segments of a first flight leave.

Paced: as Linux paces, a connection's first ten segments at once, then twice the window a round trip. Spread:
where more than ten segments are to be sent, all of them evenly over the handshake's round trip, the first ten
too (draft-kazuho-ccwg-rapid-start-02, section 3.1).
"""

SENDINGS: tuple[Sending, ...] = ("spread", "paced", "at once")
"""From what sends least at a time on."""

SPREAD, PACED, AT_ONCE = SENDINGS

TEXT = re.compile(rf"(\d{{1,9}})(p| {PACED}| {SPREAD})?(?: beyond (\d{{1,9}}) ms)?", re.ASCII)


@functools.total_ordering
@dataclass(frozen=True, slots=True)
class Policy:
    """A server's treatment of a connection's first flight.

    `str` is its one form as text, in every file and sentence, and `parse` reads it.

    >>> [str(policy) for policy in (Policy(10), Policy(16, "paced"), Policy(20, "spread", 100))]
    ['10', '16 paced', '20 spread beyond 100 ms']

    In order, fewer segments come first; of as many, what sends less at once; then what is for fewer
    connections.

    >>> Policy(16, "paced", 100) < Policy(16, "paced") < Policy(16) < Policy(20, "spread")
    True
    """

    window: int
    sending: Sending = "at once"
    beyond_ms: int | None = None
    """Connections whose handshake, from the SYN-ACK to its acknowledgement, took longer have the policy, and
    others ten segments at once; None: all have it.
    """

    @classmethod
    def parse(cls, text: str | int) -> Self:
        """Return the policy of a text; ValueError if it is none.

        Files of version 1.0 have a number for a window at once, or `16p` for `16 paced`.

        >>> Policy.parse("20 spread beyond 100 ms"), Policy.parse("16p") == Policy.parse("16 paced")
        (Policy(window=20, sending='spread', beyond_ms=100), True)
        """
        match = TEXT.fullmatch(str(text))
        if not match:
            raise ValueError(f"{text!r} is no policy such as 16, 16 paced, or 20 spread beyond 100 ms")
        window, sending, beyond = match.groups()
        how = {None: AT_ONCE, "p": PACED}.get(sending, (sending or "").strip())
        return cls(int(window), cast("Sending", how), None if beyond is None else int(beyond))

    def __str__(self) -> str:
        sending = "" if self.sending == AT_ONCE else f" {self.sending}"
        beyond = "" if self.beyond_ms is None else f" beyond {self.beyond_ms} ms"
        return f"{self.window}{sending}{beyond}"

    def __lt__(self, other: "Policy") -> bool:
        return self._place < other._place

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> "CoreSchema":  # noqa: ANN401
        """Have pydantic read and write a policy as its text."""
        from pydantic_core import core_schema  # no guest needs it

        text = core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
        return core_schema.union_schema(
            [core_schema.is_instance_schema(cls), text],
            serialization=core_schema.to_string_ser_schema(),
        )

    @property
    def _place(self) -> tuple[int, int, int]:
        return self.window, SENDINGS.index(self.sending), 1 if self.beyond_ms is None else -self.beyond_ms

    @property
    def word(self) -> str:
        """The policy as the player's commands have it (replay/lab/guest/transport/policy.c).

        >>> Policy(10).word, Policy(20, "spread", 100).word
        ('10:at-once:-1', '20:spread:100')
        """
        beyond_ms = -1 if self.beyond_ms is None else self.beyond_ms
        return f"{self.window}:{self.sending.replace(' ', '-')}:{beyond_ms}"


def at_once(*windows: int) -> tuple[Policy, ...]:
    """Return the policies of windows at once, for all connections.

    >>> at_once(3, 10) == (Policy(3), Policy(10))
    True
    """
    return tuple(map(Policy, windows))
