"""The page for owners of crawled sites: what the crawler does, and how to opt out."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.routes.pages import page
from api.routes.remembered import Remembered

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)


@router.get("/about-the-crawler", name="about_the_crawler")
def about_the_crawler(request: Request) -> Response:
    """What the crawler fetches, how often, what is stored, and whom to ask."""
    contact = request.app.state.contact
    return page(
        request,
        "crawler.html",
        url=contact.url,
        elsewhere=contact.elsewhere(request.scope["path"]),
        email=contact.email,
    )
