"""The lab in a browser without scripts: from the form to the waterfalls, and no fault on either screen."""

import re

import pytest
from fastapi.testclient import TestClient

from api.lab.networks import choose, offered_networks, usual_network
from api.lab.page_replay import WINDOWS
from api.routes.lab import MOST_ROWS, draw_network
from benchmarks.pages.browser import SIZES, launch_browser, open_page
from releases.formatting import NARROW
from tests.api.faults import unreadable, violations
from tests.api.lab.conftest import HeldLab, give, har
from tests.factories.made_up_replay import HOST, made_up_replay

NETWORKS = tuple(network.profile.id for network in offered_networks()[-2:])


@pytest.mark.browser
def test_no_page_of_the_lab_has_a_fault_on_a_desk_or_a_phone(lab_client: TestClient, held: HeldLab) -> None:
    held.may_end.set()
    where = give(lab_client, har(), NETWORKS).headers["location"]
    while HOST not in lab_client.get(where).text:
        pass
    held.may_end.clear()
    running, waiting = (give(lab_client, har()).headers["location"] for _ in range(2))
    by_page = {}
    with launch_browser() as browser:
        for path in ("/lab", where, running, waiting):
            # The page of the queue asks again by a header, which axe-core does not see; it has a link beside.
            with open_page(browser, lab_client, path) as page:
                for width, scheme in ((1280, "light"), (390, "dark")):
                    page.set_viewport_size(SIZES[width])
                    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                    if wrong := unreadable(page) + violations(page):
                        by_page[path, width] = wrong
    assert by_page == {}


def phases(waterfall: str | None) -> list[list[str]]:
    """The phases of each row of a waterfall."""
    return [re.findall('<rect class="([a-z]+)"', row) for row in (waterfall or "").split("<g>")[1:]]


def test_the_waterfalls_of_a_network_share_one_axis() -> None:
    replay = made_up_replay([usual_network()])
    drawn = draw_network(replay, choose([usual_network()])[0])
    assert [loads.iw for loads, _ in drawn.panels] == list(WINDOWS)
    # 12 responses, one each 40 ms: the last is sent at 440 ms, and ends 100 + 900 / IW ms later.
    for loads, waterfall in drawn.panels:
        assert waterfall is not None
        places = re.findall(r'<text class="axis" x="([\d.]+)%" y="13" text-anchor="\w+">([^<]*)', waterfall)
        assert (places[0], places[-1]) == (("12.0", "0 s"), ("100.0", "1 s"))
        left, width = re.findall(r'<rect class="\w+" x="([\d.]+)%" y="\d+" width="([\d.]+)%"', waterfall)[-1]
        assert float(left) + float(width) == pytest.approx(12 + 88 * (0.54 + 0.9 / loads.iw), abs=0.002)
    slowest, slow_waterfall = drawn.panels[0]
    assert slowest.page_us == 850_000
    assert slowest.range_us == (840_000, 870_000)
    assert slowest.sent_again == 0.003
    first, *_ = phases(slow_waterfall)
    _, second, *_ = phases(drawn.panels[-1][1])
    assert (first, second) == (["connection", "waiting", "rest"], ["waiting", "flight"])


def test_a_page_of_many_responses_draws_the_first_of_them() -> None:
    replay = made_up_replay([usual_network()], responses=MOST_ROWS + 1)
    drawn = draw_network(replay, choose([usual_network()])[0])
    assert {len(phases(waterfall)) for _, waterfall in drawn.panels} == {MOST_ROWS}
    assert len(drawn.listed) == MOST_ROWS


def test_the_result_has_its_numbers_as_text_and_neither_script_nor_style_within(
    lab_client: TestClient, held: HeldLab
) -> None:
    held.may_end.set()
    where = give(lab_client, har(), NETWORKS).headers["location"]
    while HOST not in (text := lab_client.get(where).text):
        pass
    assert "4 requests are of later ones" in text
    assert len(re.findall("<svg height", text)) == len(NETWORKS) * len(WINDOWS)
    assert f"10.0{NARROW}% sent again" not in text
    assert f"1.00{NARROW}% sent again" in text  # 10 kB of 1 MB at IW 10
    assert text.count("12 https://site1.test/12.css") == len(NETWORKS)
    assert "<script" not in text
    assert "style=" not in text
