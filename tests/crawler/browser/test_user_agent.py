"""A page, its frames and its workers see the planned device, by scripts and by headers."""

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from crawler.browser.browser import Browser
from crawler.browser.devices import DESKTOP, DEVICES, MOBILE, Device
from crawler.browser.identity import Identity
from crawler.browser.user_agent import Appearance, ContactUrlError, brands
from crawler.visit.visit import visit_page
from tests.zoo.raw import RawWeb, answer, html

CONTACT = "https://crawl.test/why"
SPEAKERS = {"page", "frame", "worker", "shared", "service"}

SAY = """
fetch('/said-by-WHO?' + encodeURIComponent(JSON.stringify({
  agent: navigator.userAgent, platform: navigator.userAgentData?.platform, mobile: navigator.userAgentData?.mobile,
  brands: navigator.userAgentData?.brands, width: self.innerWidth, scale: self.devicePixelRatio,
  touch: navigator.maxTouchPoints, small: self.matchMedia?.('(max-width: 600px)').matches})))
"""  # noqa: E501
HOLD = "const hold = async () => { while (await (await fetch('/hold')).text() !== 'done'); }; hold()"
"""Keeps the page from being quiet until all of its scripts have spoken."""
PAGE = f"""
<meta name=viewport content="width=device-width"><iframe src="http://b.localhost/"></iframe><script>
{SAY.replace("WHO", "page")}; {HOLD};
new Worker('/worker'); new SharedWorker('/shared'); navigator.serviceWorker.register('/service')
</script>"""
ANSWERS = {
    "a.localhost/": html(PAGE),
    "b.localhost/": html(f"<script>{SAY.replace('WHO', 'frame')}</script>"),
} | {
    f"a.localhost/{kind}": answer(SAY.replace("WHO", kind).encode(), "Content-Type: text/javascript")
    for kind in ("worker", "shared", "service")
}


def secure(web: RawWeb) -> list[str]:
    """Client hints and service workers are for secure origins alone: https, and hosts below localhost."""
    return [flag.replace("*.test", "*.localhost") for flag in web.browser_flags]


async def seen(chromium: Path, appearance: Appearance) -> tuple[Identity, RawWeb, dict[str, dict[str, Any]]]:
    """Return the browser's identity, the requests to the web, and the output of each script."""
    answers = {**ANSWERS, "a.localhost/hold": dataclasses.replace(answer(b"more"), pause_s=0.2)}
    web = RawWeb(answers)

    def read_reports() -> dict[str, dict[str, Any]]:
        return {
            target.partition("?")[0].removeprefix("/said-by-"): json.loads(unquote(target.partition("?")[2]))
            for _, target, _ in web.asked
            if target.startswith("/said-by-")
        }

    async def let_go() -> None:
        while not read_reports().keys() >= SPEAKERS:
            await asyncio.sleep(0.05)
        answers["a.localhost/hold"] = answer(b"done")

    async with web, Browser.launch(chromium, flags=secure(web), appearance=appearance) as browser:
        letting_go = asyncio.ensure_future(let_go())
        observation = await visit_page(browser, "a.localhost", budget_s=60, settle_s=40)
        letting_go.cancel()
        assert observation.visit["outcome"] == "ok"
        return browser.identity, web, read_reports()


@pytest.mark.browser
@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_the_page_its_frames_and_its_workers_see_the_device(device: Device, chromium: Path) -> None:
    identity, web, reports = asyncio.run(seen(chromium, Appearance(device=device, contact_url=CONTACT)))
    assert reports.keys() == SPEAKERS
    assert {entry["agent"] for entry in reports.values()} == {identity.user_agent}
    assert {headers["user-agent"] for _, _, headers in web.asked} == {identity.user_agent}
    assert identity.user_agent.endswith(f"Safari/537.36 (+{CONTACT})")
    assert not any("Headless" in value for _, _, headers in web.asked for value in headers.values())
    hints = dict(line.lower().split(": ", 1) for line in (identity.client_hints or "").splitlines())
    for host, target, headers in web.asked:
        if target in ("/", "/said-by-page", "/said-by-frame"):
            assert {name: headers[name].lower() for name in hints} == hints, (host, target)
    for script in ("page", "frame", "worker"):
        entry = reports[script]
        assert (entry["platform"], entry["mobile"]) == (device.platform, device.is_mobile)
        assert entry["brands"] == brands(identity.product.split()[1])
    page = reports["page"]
    assert (page["width"], page["scale"]) == (device.width, device.device_scale_factor)
    assert (page["touch"] > 0, page["small"]) == (device.has_touch, device.is_mobile)


@pytest.mark.browser
def test_a_user_agent_of_ones_own_goes_without_client_hints(chromium: Path) -> None:
    identity, web, reports = asyncio.run(
        seen(chromium, Appearance(user_agent="Ours/1.0", contact_url=CONTACT))
    )
    assert identity.user_agent == f"Ours/1.0 (+{CONTACT})"
    assert identity.client_hints is None
    assert {headers["user-agent"] for _, _, headers in web.asked} == {identity.user_agent}
    assert [name for _, _, headers in web.asked for name in headers if name.startswith("sec-ch-ua")] == []
    assert {entry["agent"] for entry in reports.values()} == {identity.user_agent}


@pytest.mark.browser
def test_the_brands_are_those_of_this_chromium_less_the_headless_one(chromium: Path) -> None:
    async def own() -> tuple[str, list[dict[str, str]]]:
        web = RawWeb({"a.localhost/": html("")})
        async with web, Browser.launch(chromium, flags=secure(web)) as browser:
            page = await (await browser.context()).new_page()
            await page.goto("http://a.localhost/")
            return browser.identity.product.split()[1], await page.evaluate("navigator.userAgentData.brands")

    version, result = asyncio.run(own())
    plain = [entry for entry in result if entry["brand"] != "HeadlessChrome"]
    assert sorted(plain, key=str) == sorted(brands(version), key=str)


def test_the_devices_say_where_they_come_from_and_are_named_once() -> None:
    assert list(DEVICES) == ["desktop", "mobile"]
    assert all(device.source for device in DEVICES.values())
    assert (DESKTOP.is_mobile, MOBILE.is_mobile) == (False, True)


@pytest.mark.parametrize(
    ("device", "agent"),
    [
        (
            DESKTOP,
            "(X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
        ),
        (
            MOBILE,
            "(Linux; Android 10; K) AppleWebKit/537.36 (KHTML, "
            "like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36",
        ),
    ],
)
def test_the_user_agent_is_that_of_plain_chrome(device: Device, agent: str) -> None:
    assert Appearance(device=device).make_guise("156.0.8078.79").user_agent == f"Mozilla/5.0 {agent}"


@pytest.mark.parametrize(
    "contact",
    [
        "crawl@a.test",
        "https://a.test/)",
        "https://a.test/ b",
        "https://a.test/\r\nX: y",
        "https://ä.test/",
        "",
    ],
)
def test_a_contact_that_would_break_the_header_is_refused(contact: str) -> None:
    with pytest.raises(ContactUrlError, match="cannot stand in a User-Agent"):
        Appearance(contact_url=contact).make_guise("156.0.8078.79")
