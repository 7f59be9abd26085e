"""Responses that block rendering, as the browser said or as their types tell."""

import pytest

from replay.recipes.page_recipe import Object, Origin, Recipe, blocks_rendering
from replay.recipes.release_rows import Row

DOCUMENT = 1


@pytest.mark.parametrize(
    ("row", "parent", "blocks"),
    [
        ({"resource_type": "script", "render_blocking": "blocking"}, DOCUMENT, True),
        ({"resource_type": "script", "render_blocking": "in_body"}, DOCUMENT, False),
        ({"resource_type": "script"}, DOCUMENT, False),
        ({"resource_type": "style", "render_blocking": "dynamic"}, DOCUMENT, False),
        ({"resource_type": "style", "render_blocking": None}, DOCUMENT, True),
        ({"resource_type": "style"}, 2, False),
        ({"resource_type": "document"}, None, False),
    ],
)
def test_what_blocks_is_what_the_browser_said_else_the_documents_style_sheets(
    row: Row, parent: int | None, blocks: bool
) -> None:
    assert blocks_rendering(row, parent, DOCUMENT) is blocks


def test_the_player_is_told_which_objects_block() -> None:
    recipe = Recipe(
        page="a.test",
        visit_id=1,
        origins=(Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0),),
        objects=tuple(
            Object(
                response_id=number,
                origin=0,
                parent=number - 2,
                response_bytes=1000,
                is_document=number == 1,
                blocks_rendering=number == 2,
            )
            for number in (1, 2, 3)
        ),
        left_out=0,
    )
    assert [line.split()[-2] for line in recipe.to_text().splitlines()[2:]] == ["0", "1", "0"]
