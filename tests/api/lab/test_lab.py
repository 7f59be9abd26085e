"""A page from the form to the waterfalls, over the real Linux TCP stack,
by the service as operators start it."""

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.lab.networks import offered_networks
from api.lab.page_replay import SEEDS, WINDOWS
from api.lab.process import replay_in_process
from api.lab.queue import Queue
from firstflight.settings import from_environment
from replay.lab import kernel, player
from tests.api.lab.conftest import drawings_of, give, har
from tests.api.site_pages.test_pages import bars
from tests.factories.made_up_recording import DOCUMENT, FONT, STYLE, UNKNOWN

pytestmark = pytest.mark.lab

WITHIN_S = 300
"""Time for a replay on a busy machine; it takes three seconds on an idle one."""


@pytest.fixture
def lab_client(tmp_path: Path) -> Iterator[TestClient]:
    cache = from_environment().cache_dir
    kernel.locate(cache)
    player.build_player(cache, lambda _line: None)

    app = create_app(
        tmp_path / "releases",
        tmp_path / "reports",
        lab=Queue(partial(replay_in_process, cache), limit_s=WITHIN_S),
    )
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_a_page_is_replayed_from_the_form_to_its_waterfalls(lab_client: TestClient) -> None:
    fast, *_, slow = (network.profile for network in offered_networks())
    where = give(lab_client, har(DOCUMENT, STYLE, FONT, UNKNOWN), [fast.id, slow.id]).headers["location"]
    deadline = time.monotonic() + WITHIN_S
    while "refresh" in (answer := lab_client.get(where)).headers:
        assert time.monotonic() < deadline
        assert lab_client.get("/v1/crawls").status_code == 200
        time.sleep(0.1)
    assert answer.status_code == 200, answer.text
    assert "3 responses" in answer.text
    assert "1 more is left out" in answer.text
    drawings = [drawing.text for drawing in drawings_of(lab_client, answer.text)]
    assert len(drawings) == 2
    for drawing in drawings:
        assert [int(iw) for iw in re.findall(r">IW (\d+): ", drawing)] == list(WINDOWS)
        assert len(bars(drawing)) == 3 * len(WINDOWS)
    assert f"of {SEEDS} loads:" not in answer.text  # none was refused, and none failed
    # 20 kB are more than three segments: on the slow network the window of 3 takes a
    # round trip more than that of 30.
    times = [
        float(match.replace("\u202f", ""))
        for match in re.findall(r"page time <strong>([\d\u202f.]+)", answer.text)
    ]
    assert len(times) == 2 * len(WINDOWS)
    at_3, *_, at_30 = times[len(WINDOWS) :]
    assert at_3 - at_30 > slow.rtt_us / 1000 / 2
    # TCP, TLS, and at least one round trip for each of the three that wait for one another.
    assert at_30 > 5 * slow.rtt_us / 1000
    for private in ("private-name", "192.0.2"):
        assert all(private not in text for text in (answer.text, *drawings))
