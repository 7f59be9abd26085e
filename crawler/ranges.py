"""The bytes of a stream that have arrived, each counted once in whatever order they came."""

import bisect


class Ranges:
    """Ranges of positions that have arrived.

    >>> ranges = Ranges()
    >>> [ranges.add(0, 10), ranges.add(20, 30), ranges.add(5, 25), ranges.add(0, 30)]
    [[(0, 10)], [(20, 30)], [(10, 20)], []]
    """

    __slots__ = ("_edges",)

    def __init__(self) -> None:
        self._edges: list[int] = []
        """Positions at which arrived bytes begin and end, in turn."""

    def add(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Add bytes; return the ranges that are new."""
        if stop <= start:
            return []
        edges = self._edges
        if edges and start == edges[-1]:  # in order, as most come
            edges[-1] = stop
            return [(start, stop)]
        first, last = bisect.bisect_left(edges, start), bisect.bisect_right(edges, stop)
        begins, ends = [start] * (first % 2 == 0), [stop] * (last % 2 == 0)
        bounds = [*begins, *edges[first:last], *ends]
        edges[first:last] = begins + ends
        return [new for new in zip(bounds[::2], bounds[1::2], strict=True) if new[0] < new[1]]

    def count(self, start: int, stop: int) -> int:
        return sum(last - first for first, last in self.add(start, stop))

    def within(self, start: int, stop: int) -> int:
        edges = self._edges
        at = bisect.bisect_right(edges, start) // 2 * 2
        count = 0
        while at < len(edges) and edges[at] < stop:
            count += max(0, min(stop, edges[at + 1]) - max(start, edges[at]))
            at += 2
        return count

    @property
    def whole(self) -> int:
        """Position up to which all from 0 on have arrived."""
        return self._edges[1] if self._edges and not self._edges[0] else 0

    @property
    def stop(self) -> int:
        return self._edges[-1] if self._edges else 0

    @property
    def gaps(self) -> int:
        return len(self._edges) // 2 - (self.whole > 0)
