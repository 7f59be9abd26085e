"""TLS records of a page's servers.

A browser can use nothing of a record before all of it has arrived (RFC 8446 §5.2).
"""

from collections.abc import Sequence

RECORD_BYTES = 16_384
"""Maximum plaintext of a TLS record (RFC 8446 §5.1)."""

RECORD_OVERHEAD_BYTES = 22
"""Bytes that TLS 1.3 adds to a record: header, content type, AEAD tag."""

SMALLEST_LIMIT_BYTES = 1_200
"""Smallest plaintext that counts as a limit: servers with small records fill a packet with each."""

SMALL_RECORDS, STEADY_BYTES = 40, 4_096
"""Servers that begin with records of less than 4,096 bytes write larger ones after 40, as in a patch for
nginx that content networks published (github.com/nginx-modules/ngx_http_tls_dyn_size); a limit of 4,096 bytes
or more is taken to stay."""

Run = tuple[int, int]
"""Number of records, and most bytes of plaintext of each; 0 records: all further ones."""

TLS_RECORDS: dict[str, tuple[Run, ...]] = {
    "16k": ((0, RECORD_BYTES),),
    "4k": ((0, STEADY_BYTES),),
    "dynamic": ((SMALL_RECORDS, 1_369), (SMALL_RECORDS, 4_229), (0, RECORD_BYTES)),
}
"""Record sizes by server: nginx's default (ssl_buffer_size), the static size that a large content network
states, and that patch's, which begins anew after a second of silence.
"""


def payload(wire_bytes: int, *, tls: bool) -> int:
    """Return the TCP payload of bytes that are sent in full records.

    >>> payload(16_385, tls=False), payload(16_385, tls=True)
    (16385, 16429)
    """
    return wire_bytes + (-(-wire_bytes // RECORD_BYTES) * RECORD_OVERHEAD_BYTES if tls else 0)


def record_runs(recorded: Sequence[int] | None) -> tuple[Run, ...]:
    """Return a server's limits from the TCP payload of its first records; none if they were not recorded.

    A size that two neighbouring records share is the server's limit there. Any other record may have ended
    with its response, and has the limit of the records behind it.

    >>> record_runs([73, 900, 16_406, 16_406])
    ((0, 16384),)
    >>> record_runs([73] + [1_391] * 9)
    ((40, 1369), (0, 16384))
    """
    if not recorded:
        return ()
    sizes = [min(max(1, size - RECORD_OVERHEAD_BYTES), RECORD_BYTES) for size in recorded]
    limits: list[int] = []
    for place in reversed(range(len(sizes))):
        size = sizes[place]
        neighbours = sizes[max(0, place - 1) : place] + sizes[place + 1 : place + 2]
        behind = limits[-1] if limits else RECORD_BYTES
        limits.append(size if size in neighbours and size >= SMALLEST_LIMIT_BYTES else max(size, behind))
    limits.reverse()
    runs: list[Run] = []
    for limit in limits:
        count = runs.pop()[0] if runs and runs[-1][1] == limit else 0
        runs.append((count + 1, limit))
    return with_tail(runs, len(limits))


def with_tail(runs: Sequence[Run], records: int) -> tuple[Run, ...]:
    """Return the first records' runs, and what is assumed behind them."""
    count, limit = runs[-1]
    if limit >= STEADY_BYTES:
        return (*runs[:-1], (0, limit))
    return (*runs[:-1], (max(count, SMALL_RECORDS - records + count), limit), (0, RECORD_BYTES))


def runs_text(runs: Sequence[Run]) -> str:
    """Return the runs in the player's format.

    >>> runs_text(TLS_RECORDS["dynamic"]), runs_text(())
    ('40x1369,40x4229,16384', '-')
    """
    return ",".join(f"{records}x{limit}" if records else str(limit) for records, limit in runs) or "-"
