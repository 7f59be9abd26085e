"""All hostile pages. A page is the host that it is asked for: `busy.test` is PAGES["busy"]."""

from localweb.serving.handler import Handler
from tests.zoo.hostile import asking, bodies, navigation, scripts, windows

PAGES: dict[str, Handler] = {
    **navigation.PAGES,
    **bodies.PAGES,
    **scripts.PAGES,
    **windows.PAGES,
    **asking.PAGES,
}
