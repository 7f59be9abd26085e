"""Walls and consent platforms are recognised on pages that a browser loads,
and nothing else is taken for one."""

import asyncio

import pytest

from crawler.netlog.requests import BOT_WALL_HEADERS
from crawler.visit.attempt import Observation
from crawler.visit.bot_walls import CONSENTS, WALLS, HeaderMark, recognise
from schema import vocabulary as schema
from tests.crawler.visiting import visit_hosts
from tests.zoo.raw import Answer, RawWeb, answer, html


def page(status: str, *headers: str, script: str = "") -> Answer:
    body = f"<!doctype html><link rel=icon href=data:,>{f'<script src={script}></script>' if script else ''}"
    return answer(body.encode(), "Content-Type: text/html", *headers, status=status)


WALLED = {
    "cloudflare": page("403 Forbidden", "CF-Mitigated: challenge", "Server: cloudflare"),
    "aws-waf": page("202 Accepted", "x-amzn-waf-action: challenge"),
    "vercel": page("429 Too Many Requests", "X-Vercel-Mitigated: challenge"),
    "datadome": page("403 Forbidden", script="http://geo.captcha-delivery.com/captcha.js"),
    "perimeterx": page("403 Forbidden", script="http://captcha.px-cdn.net/PX1/captcha.js"),
    "imperva": page("403 Forbidden", script="/_Incapsula_Resource?SWJIYLWA=1"),
    "akamai": page("403 Forbidden", "Server: AkamaiGHost"),
    "hcaptcha": page("429 Too Many Requests", script="http://js.hcaptcha.com/1/api.js"),
    "recaptcha": page("429 Too Many Requests", script="http://www.google.com/recaptcha/api.js"),
}
CONSENTING = {
    "onetrust": "cdn.cookielaw.org/scripttemplates/otSDKStub.js",
    "cookiebot": "consent.cookiebot.com/uc.js",
    "sourcepoint": "cdn.privacy-mgmt.com/unified/wrapperMessagingWithoutDetection.js",
    "quantcast": "cmp.quantcast.com/choice/1/choice.js",
    "didomi": "sdk.privacy-center.org/loader.js",
    "usercentrics": "app.usercentrics.eu/browser-ui/latest/loader.js",
    "trustarc": "consent.trustarc.com/notice",
}
NO_WALL = {
    "refused.test": page("403 Forbidden", "Server: cloudflare"),
    "let-through.test": page(
        "200 OK", "X-DataDome: protected", script="/cdn-cgi/challenge-platform/scripts/jsd/main.js"
    ),
    "login.test": page("200 OK", script="http://js.hcaptcha.com/1/api.js"),
    "alike.test": page("403 Forbidden", script="http://nothcaptcha.com/1/api.js"),
    "plain.test": html("hello"),
}


class Everywhere(RawWeb):
    """A web that is every host, those of walls included."""

    @property
    def browser_flags(self) -> list[str]:
        """Every host is this server; https is refused."""
        return [f"--host-resolver-rules=MAP *:80 127.0.0.1:{self.port},MAP *:443 127.0.0.1:9"]


def visits(answers: dict[str, Answer]) -> list[Observation]:
    web = Everywhere({f"{host}/": answer for host, answer in answers.items()})
    return asyncio.run(visit_hosts(web, *answers))


@pytest.mark.browser
def test_each_wall_is_flagged_and_its_page_kept() -> None:
    seen = visits({f"{name}.test": answer for name, answer in WALLED.items()} | NO_WALL)
    assert [observation.visit["wall"] for observation in seen] == [*WALLED, *[None] * len(NO_WALL)]
    assert all(observation.visit["received_bytes"] > 0 for observation in seen)
    ends = {name: observation.visit["outcome"] for name, observation in zip(WALLED, seen, strict=False)}
    assert ends == dict.fromkeys(WALLED, "http_error") | {"aws-waf": "ok"}


@pytest.mark.browser
def test_each_consent_platform_is_flagged() -> None:
    pages = {f"{name}.test": page("200 OK", script=f"http://{url}") for name, url in CONSENTING.items()}
    seen = visits(pages | {"plain.test": html("hello")})
    assert [observation.visit["consent"] for observation in seen] == [*CONSENTING, None]
    assert {(observation.visit["outcome"], observation.visit["wall"]) for observation in seen} == {
        ("ok", None)
    }


def test_the_fingerprints_are_those_of_the_schema_each_with_its_source_and_its_test() -> None:
    assert [fingerprint.id for fingerprint in WALLS] == list(schema.WALLS) == list(WALLED)
    assert [consent.id for consent in CONSENTS] == list(schema.CONSENTS) == list(CONSENTING)
    assert all(
        fingerprint.source and (fingerprint.alone or fingerprint.refused)
        for fingerprint in (*WALLS, *CONSENTS)
    )
    marks = {mark for fingerprint in WALLS for mark in fingerprint.alone + fingerprint.refused}
    assert {mark.name for mark in marks if isinstance(mark, HeaderMark)} == BOT_WALL_HEADERS


def test_a_page_that_never_answered_is_behind_no_wall() -> None:
    assert recognise(WALLS, None, {}, [("challenges.cloudflare.com", "/x")]) is None
