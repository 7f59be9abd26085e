"""The interval at which a running crawl writes its progress, on a simulated clock."""

import asyncio

import pytest

from firstflight.progress import AT_MOST, EVERY_S, again_and_again


class Days:
    """Time that passes when something tells, or sleeps; it ends after so many seconds."""

    def __init__(self, counting_s: float, lasting_s: float) -> None:
        self.counting_s, self.lasting_s = counting_s, lasting_s
        self.now = 0.0
        self.told: list[float] = []

    def tell(self) -> None:
        self.told.append(self.now)
        self.now += self.counting_s

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self.lasting_s:
            raise asyncio.CancelledError


@pytest.mark.parametrize(("counting_s", "every_s"), [(0.01, 15.01), (0.75, 15.75), (3, 63), (120, 2520)])
def test_it_tells_every_fifteen_seconds_and_takes_a_twentieth_of_the_time_at_most(
    counting_s: float, every_s: float
) -> None:
    days = Days(counting_s, lasting_s=40 * every_s)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(again_and_again(days.tell, clock=lambda: days.now, sleep=days.sleep))
    between = [later - sooner for sooner, later in zip(days.told, days.told[1:], strict=False)]
    assert len(between) > 30
    assert between == pytest.approx([every_s] * len(between))
    assert min(between) >= EVERY_S
    assert len(days.told) * counting_s <= AT_MOST * days.now
