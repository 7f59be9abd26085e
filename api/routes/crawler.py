"""The page for owners of crawled sites: what the crawler does, and how to be left out."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.remembering import Remembered
from api.routes.pages import page

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)


@router.get("/about-the-crawler", name="about_the_crawler")
def about_the_crawler(request: Request) -> Response:
    """What it fetches, how often, what is kept, and whom to ask."""
    contact = request.app.state.contact
    return page(
        request,
        "crawler.html",
        url=contact.url,
        elsewhere=contact.elsewhere(request.scope["path"]),
        email=contact.email,
    )
