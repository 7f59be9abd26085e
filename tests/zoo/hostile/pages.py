"""All hostile pages. A page is the host that it is asked for: `busy.test` is PAGES["busy"]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.zoo.hostile import asking, bodies, navigation, scripts, windows

if TYPE_CHECKING:
    from localweb.serving.handler import Handler

PAGES: dict[str, Handler] = {
    **navigation.PAGES,
    **bodies.PAGES,
    **scripts.PAGES,
    **windows.PAGES,
    **asking.PAGES,
}
