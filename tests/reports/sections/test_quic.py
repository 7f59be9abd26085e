"""The section on QUIC: shares of known sizes within so many rounds."""

import numpy as np

from releases.cdf import Cdf
from reports.sections.quic_window import quic_section


def cdf_of(sizes: list[int], *, unknown: int = 0) -> Cdf:
    values, counts = np.unique(np.array(sizes, dtype=np.int64), return_counts=True)
    cumulative = np.cumsum(counts)
    return Cdf(sizes=values, cumulative=cumulative, unknown=unknown)


def test_a_response_between_the_two_windows_takes_a_round_more_over_quic() -> None:
    cdfs = {
        "responses": cdf_of([1_000, 11_740, 11_741, 14_480]),
        "first_flights_after_tls": cdf_of([1], unknown=9),
    }
    table, _ = quic_section(cdfs, labels={"responses": "all responses"}, source="tests").tables
    shares = {
        (row["measure"], row["protocol"].split(",")[0]): [row[f"rounds{count}"] for count in (1, 2, 3, 4)]
        for row in table.rows
    }
    assert shares["all responses", "QUIC"] == [50, 100, 100, 100]
    assert shares["all responses", "TCP"] == [100, 100, 100, 100]
    for unknown in ("first_flights_after_tls", "responses_iw_limited"):
        assert shares[unknown, "QUIC"] == shares[unknown, "TCP"] == [None] * 4


def test_larger_datagrams_carry_more_in_the_first_round_up_to_the_limit_of_rfc_9002() -> None:
    cdfs = {"responses": cdf_of([11_740, 12_240, 13_240, 14_460])}
    _, table = quic_section(cdfs, labels={"responses": "all responses"}, source="tests").tables
    assert [
        (row["datagram"], row["window"], row["stream"], row["responses"], row["first_flights_after_tls"])
        for row in table.rows
    ] == [
        (1_200, 12_000, 11_740, 25, None),
        (1_250, 12_500, 12_240, 50, None),
        (1_350, 13_500, 13_240, 75, None),
        (1_472, 14_720, 14_460, 100, None),
    ]
