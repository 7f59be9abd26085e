"""The population that is drawn, against the shares that the paper prints."""

import pytest

from replay.networks.copula import quantile
from replay.published import dukkipati, dukkipati_clients


def test_clients_are_the_same_every_time_and_lie_on_the_published_curves() -> None:
    clients = dukkipati_clients.draw(4000)
    assert clients == dukkipati_clients.draw(4000)
    median = sorted(client.rtt_ms for client in clients)[2000]
    assert median == pytest.approx(quantile("rtt_ms", "AvgDC", 0.5), rel=0.05)
    faster = sum(client.kbps > 1200 for client in clients) / 4000  # the paper's text: a median of 1.2 Mbps
    assert faster == pytest.approx(0.5, abs=0.03)


def test_fast_clients_have_short_round_trips_as_the_paper_has_them() -> None:
    clients = dukkipati_clients.draw(4000)
    fast = [client.rtt_ms for client in clients if client.kbps > 3000]
    slow = [client.rtt_ms for client in clients if client.kbps < 512]
    assert sum(fast) / len(fast) < 0.6 * sum(slow) / len(slow)


def test_every_panel_has_a_place_for_every_client() -> None:
    clients = dukkipati_clients.draw(2000)
    for panel, (_, value) in dukkipati.PANELS.items():
        names = [bucket["bucket"] for bucket in dukkipati.FIGURES[panel]]
        buckets = dukkipati.group_gains(clients, [1.0] * len(clients), names, value)
        assert sum(map(len, buckets)) == len(clients)


def test_a_client_at_the_edge_of_a_bucket_belongs_to_it() -> None:
    edge = dukkipati_clients.PublishedClient(kbps=512.0, rtt_ms=50.0, size_bytes=1000)
    names = ["256-512", "512-1000", ">1000"]
    assert dukkipati.group_gains([edge], [3.0], names, lambda client: client.kbps) == [[3.0], [], []]


def test_the_knee_is_where_nearly_all_is_gained() -> None:
    assert dukkipati.bend({3: 489.8, 6: 474.61, 10: 467.5, 16: 466.14, 26: 466.82, 42: 468.24}) == 10
