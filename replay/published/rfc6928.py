"""`rfc6928-rounds`: the table of RFC 6928 §5.1, and the rounds of the kernel's sender."""

from collections.abc import Sequence

from releases.slow_start import MSS_TIMESTAMPS, delayed_ack_rounds, linux_flights
from replay.lab.guest_process import Lab
from replay.networks.profiles import symmetric
from replay.published.reproduction import ComparedValue, FigurePlace, Reproduction, at_most, make_reproduction
from replay.runs.calibration import Flight, count_flights
from replay.runs.guests import measure_flights
from replay.runs.network_jobs import FIRST_ORIGIN

TABLE: tuple[tuple[int, int, int], ...] = (
    (3, 1, 1),
    (6, 2, 1),
    (10, 3, 1),
    (12, 3, 2),
    (21, 4, 2),
    (25, 5, 2),
    (33, 5, 3),
    (46, 6, 3),
    (51, 6, 4),
    (78, 7, 4),
    (79, 8, 4),
    (120, 8, 5),
    (127, 9, 5),
)
"""Segments, rounds at IW 3, rounds at IW 10."""

WIDE = symmetric(
    "wide",
    bps=1_000_000_000,
    rtt_us=100_000,
    queue_bytes=4_000_000,
    source="ours: so wide that a window leaves in far less than a round trip",
)

CONGESTION_CONTROL = "reno"
"""Plain slow start: CUBIC's HyStart leaves slow start from a window of 16."""


def run(lab: Lab) -> Reproduction:
    arithmetic = [
        ComparedValue(
            what=f"{count} segments, IW {iw}",
            unit="rounds",
            published=published,
            ours=delayed_ack_rounds(count, iw=iw),
            place=FigurePlace("The table of section 5.1", f"IW {iw}", str(count)),
        )
        for count, *both in TABLE
        for iw, published in zip((3, 10), both, strict=True)
    ]
    kernel = kernel_rows(lab)
    return make_reproduction(
        "rfc6928-rounds",
        globals(),
        source="RFC 6928 §5.1",
        rows=(*arithmetic, *kernel),
        criteria=(
            at_most("rows of the table that differ", differing(arithmetic), 0),
            at_most("transfers whose rounds differ from Linux's arithmetic", differing(kernel), 0),
        ),
    )


def differing(rows: Sequence[ComparedValue]) -> int:
    return sum(row.ours != row.published for row in rows)


def kernel_rows(lab: Lab) -> list[ComparedValue]:
    flights = [
        Flight(id=f"{count}-{iw}", host=FIRST_ORIGIN, iw=iw, bytes=count * MSS_TIMESTAMPS)
        for count, _, _ in TABLE
        for iw in (3, 10)
    ]
    measured = measure_flights(lab, WIDE, flights, congestion_control=CONGESTION_CONTROL)
    return [
        ComparedValue(
            what=f"{flight.bytes // MSS_TIMESTAMPS} segments, IW {flight.iw}, Linux",
            unit="rounds",
            published=linux_flights(flight.bytes, iw=flight.iw),
            ours=count_flights(flight, rtt_us=WIDE.rtt_us),
            place=FigurePlace(
                "Linux against its own arithmetic", f"IW {flight.iw}", str(flight.bytes // MSS_TIMESTAMPS)
            ),
        )
        for flight in measured
    ]
