"""The lab in a browser without scripts: from the form to the waterfalls, and no fault on either screen."""

import xml.etree.ElementTree as ET

import pytest
from fastapi.testclient import TestClient

from api.drawing import WIDE
from api.lab.networks import choose, offered_networks, usual_network
from api.lab.page_replay import WINDOWS
from api.routes.lab import MOST_ROWS, describe, draw_loads, over_network, spans_of
from benchmarks.pages.browser import SIZES, launch_browser, open_page
from releases.formatting import NARROW
from tests.api.faults import unreadable, violations
from tests.api.lab.conftest import HeldLab, drawings_of, give, har
from tests.api.site_pages.test_pages import bars
from tests.factories.made_up_replay import HOST, made_up_replay
from tests.factories.svg_boxes import SVG

NETWORKS = tuple(network.profile.id for network in offered_networks()[-2:])


@pytest.mark.browser
def test_no_page_of_the_lab_has_a_fault_on_a_desk_or_a_phone(lab_client: TestClient, held: HeldLab) -> None:
    held.may_end.set()
    where = give(lab_client, har(), NETWORKS).headers["location"]
    while HOST not in (text := lab_client.get(where).text):
        pass
    # The first drawing starts the process that draws, which a page's limit of time need not have room for.
    assert len(drawings_of(lab_client, text)) == len(NETWORKS)
    held.may_end.clear()
    running, waiting = (give(lab_client, har()).headers["location"] for _ in range(2))
    by_page = {}
    with launch_browser() as browser:
        for path in ("/lab", where, running, waiting):
            # By this header the page of the queue asks again, which would take it away while it is looked at;
            # axe-core does not see the header, and the page has a link beside.
            with open_page(browser, lab_client, path, without={"refresh"}) as page:
                for width, scheme in ((1280, "light"), (390, "dark")):
                    page.set_viewport_size(SIZES[width])
                    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                    if wrong := unreadable(page) + violations(page):
                        by_page[path, width] = wrong
    assert by_page == {}


def test_the_waterfalls_of_a_network_share_one_axis() -> None:
    replay = made_up_replay([usual_network()])
    drawn = over_network(replay, choose([usual_network()])[0])
    assert [loads.iw for loads in drawn.loads] == list(WINDOWS)
    rows = bars(draw_loads(WIDE, replay.responses, drawn.loads))
    assert len(rows) == 12 * len(WINDOWS)
    # 12 responses, one each 40 ms: the last is sent at 440 ms, and ends 100 + 900 / IW ms later.
    lasts = [rows[12 * (place + 1) - 1] for place in range(len(WINDOWS))]
    per_ms = lasts[0][0][0] / 440
    for iw, row in zip(WINDOWS, lasts, strict=True):
        left, width = row[-1]
        assert (left + width) / per_ms == pytest.approx(540 + 900 / iw, abs=0.5)
    slowest = drawn.loads[0]
    assert slowest.page_us == 850_000
    assert slowest.range_us == (840_000, 870_000)
    assert slowest.sent_again == 0.003
    assert [[*spans_of(load.responses[place])] for load, place in ((slowest, 0), (drawn.loads[-1], 1))] == [
        ["connecting", "waiting", "in several bursts"],
        ["waiting", "in one burst"],
    ]


@pytest.mark.parametrize("width", [WIDE, 1280])
def test_the_picture_to_take_says_what_it_is_of(width: int) -> None:
    replay = made_up_replay([usual_network()])
    (network,) = choose([usual_network()])
    drawn = over_network(replay, network)
    drawing = draw_loads(width, replay.responses, drawn.loads, describe(replay, drawn))
    words = " ".join("".join(text.itertext()) for text in ET.fromstring(drawing).iter(f"{SVG}text"))
    for said in (replay.host, "at IW 10", "no evidence for a window"):
        assert said in words.replace("\u00a0", " ")


def test_a_page_of_many_responses_draws_the_first_of_them() -> None:
    replay = made_up_replay([usual_network()], responses=MOST_ROWS + 1)
    drawn = over_network(replay, choose([usual_network()])[0])
    assert len(bars(draw_loads(WIDE, replay.responses, drawn.loads))) == MOST_ROWS * len(WINDOWS)
    assert len(drawn.listed) == MOST_ROWS


def test_the_result_has_its_numbers_as_text_and_neither_script_nor_style_within(
    lab_client: TestClient, held: HeldLab
) -> None:
    held.may_end.set()
    where = give(lab_client, har(), NETWORKS).headers["location"]
    while HOST not in (text := lab_client.get(where).text):
        pass
    assert "4 requests are of later ones" in text
    drawings = drawings_of(lab_client, text)
    assert len(drawings) == len(NETWORKS)
    for drawing in drawings:
        assert drawing.headers["cache-control"] == "no-store"
        assert all(f"IW {iw}: " in drawing.text for iw in WINDOWS)
    assert f"10.0{NARROW}% sent again" not in text
    assert f"1.00{NARROW}% sent again" in text  # 10 kB of 1 MB at IW 10
    assert text.count("12 https://site1.test/12.css") == len(NETWORKS)
    assert "<script" not in text
    assert "style=" not in text
