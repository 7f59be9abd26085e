"""A made-up replay of a page, and a lab that has it at once."""

from collections.abc import Callable, Sequence

from api.lab.page_replay import WINDOWS, Loads, PageReplay, PageResponse, ResponseTimes
from api.lab.queue import Content

HOST = "site1.test"


def made_up_replay(networks: Sequence[str], *, responses: int = 12) -> PageReplay:
    """Three loads at each window: they get faster with the window, and more is sent again."""

    def times(number: int, iw: int) -> ResponseTimes:
        sent_ms = 40.0 * number
        return ResponseTimes(
            wanted_ms=sent_ms - (20 if number % 3 == 0 else 0),
            sent_ms=sent_ms,
            first_byte_ms=sent_ms + 100,
            last_byte_ms=sent_ms + 100 + 900 / iw,
            flights=1 if iw > 10 else 2,
            retransmitted=iw == 30 and number % 4 == 0,
        )

    def loads(network: str, iw: int) -> Loads:
        each = tuple(times(number, iw) for number in range(responses))
        last_ms = each[-1].last_byte_ms
        return Loads(
            network=network,
            iw=iw,
            page_ms=(last_ms, last_ms, last_ms + 30),
            payload_bytes=1_000_000,
            sent_again_bytes=1000 * iw,
            responses=each,
        )

    return PageReplay(
        host=HOST,
        responses=tuple(
            PageResponse(number=number, address=f"https://{HOST}/{number}.css", size_bytes=5000 * number)
            for number in range(1, responses + 1)
        ),
        left_out=2,
        later_requests=4,
        loads=tuple(loads(network, iw) for network in networks for iw in WINDOWS),
    )


async def at_once(
    _content: Content, networks: Sequence[str], progress: Callable[[int, int], None]
) -> PageReplay:
    """The made-up replay, without any work."""
    progress(12, 12)
    return made_up_replay(networks)
