"""Drawings without what is not drawn: the same picture, in half its size."""

import io

import pytest
import vl_convert
from PIL import Image, ImageChops

from figures.rendering import bare, for_both_schemes, pair_colours
from reports.sections.shape import Drawing
from tests.reports.document.test_charts import draw

pytestmark = pytest.mark.process


def picture(drawing: str) -> Image.Image:
    return Image.open(io.BytesIO(vl_convert.svg_to_png(drawing))).convert("RGBA")


@pytest.mark.parametrize("drawing", ["curves", "dots"])
def test_the_picture_is_the_same_to_the_pixel_and_the_drawing_half_as_large(drawing: Drawing) -> None:
    whole = draw(drawing)
    shortened = bare(whole)
    assert len(shortened) < 0.5 * len(whole)
    assert ImageChops.difference(picture(whole), picture(shortened)).getbbox() is None
    assert picture(shortened).getbbox() is not None


def test_what_the_parts_of_a_group_do_not_share_stays_theirs() -> None:
    mixed = (
        '<svg xmlns="http://www.w3.org/2000/svg"><g fill="red"><path d="M0,0" '
        'stroke="blue"/><path d="M1,1"/></g></svg>'
    )
    assert bare(mixed) == mixed


def test_a_dark_screen_has_rules_for_the_colours_of_the_drawing_alone() -> None:
    drawing = for_both_schemes(bare(draw("dots")))
    assert all(
        (f'"{light}"]' in drawing) == (f'"{light}"' in drawing.partition("</style>")[2])
        for light, _ in pair_colours()
    )
