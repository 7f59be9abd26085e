"""The pages print the intervals that the API gives, beside every share and quantile,
and draw bands around the curves."""

import re
from html import unescape
from pathlib import Path

from releases.formatting import between, percent, size
from releases.strata.statistics import FEW_SITES
from schema.computed_tables import MEASURES
from schema.crawls import CrawlName
from tests.api.conftest import SIZES, serving, write_release, write_release_with_items

CRAWL = CrawlName(month="2026-12")
RELEASE = f"/releases/{CRAWL}/v1"


def test_pages_print_an_interval_beside_every_share_and_quantile_and_draw_a_band_around_every_curve(
    tmp_path: Path,
) -> None:
    write_release_with_items(tmp_path, CRAWL)
    with serving(tmp_path) as client:
        asked = {"crawl": str(CRAWL), "measure": "responses", "iw": "10"}
        (answer,) = client.get("/v1/distributions", params=asked).json()["distributions"]
        home, release = client.get("/").text, client.get(RELEASE).text
        curves = re.findall(r'<img src="([^"]*)"[^>]* alt="CDF of', home + release)
        drawings = [client.get(unescape(address)).text for address in curves]
    (fit,), quantiles = answer["fits"], {quantile["percent"]: quantile for quantile in answer["quantiles"]}
    shares = [percent(fit[name]) for name in ("share", "lower", "upper")]
    medians, tails = (
        [size(quantiles[place][name]) for name in ("size_bytes", "lower_bytes", "upper_bytes")]
        for place in (50, 95)
    )
    for value, lower, upper in (shares, medians, tails):
        assert f"{value} <small>{between([lower, upper])}</small>" in release
    assert f"{shares[0]} <small>({between(shares[1:])})</small>" in home
    assert len(drawings) == 1 + len(set(SIZES) & set(MEASURES))
    bands = [re.findall(r'<path d="[^"]*Z" fill="#[^"]*" opacity="0.2"/>', drawing) for drawing in drawings]
    assert [len(band) for band in bands] == [1] * len(drawings)


def test_a_page_says_why_a_release_has_no_intervals(tmp_path: Path) -> None:
    write_release(tmp_path, CRAWL, version=1)
    with serving(tmp_path) as client:
        for path in ("/", RELEASE):
            text = client.get(path).text
            assert FEW_SITES in text
            assert not re.search(r"<small>[^<]* to [^<]*</small>", text)
