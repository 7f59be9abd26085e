"""`firstflight localweb`: play the bundled web on loopback, or list its pages."""

import asyncio
import dataclasses
import json
import signal
from pathlib import Path

import click

from firstflight.commands.options import AS_JSON, show
from firstflight.errors import one_line
from localweb import recipes
from localweb.content import Played, play
from localweb.modes import SUFFIX, Mode
from localweb.server import LocalWeb, canary
from localweb.serving.listener import ListenerError
from storage.staging import write_whole

MODE = click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.RECORDED.value,
    show_default=True,
    help="Protocol: HTTP/1.1 clear or over TLS, HTTP/2, or as each host was recorded.",
)

HEADING = f"{'site':<32} {'objects':>7} {'hosts':>5} {'kB':>7} {'inexact':>7}  recorded"


@click.group()
def command() -> None:
    """Play the bundled web on loopback: structure and sizes of real pages, with made-up content.

    \b
    Example:
      firstflight localweb list
      firstflight localweb serve --mode h2 --state web.json --log sent.jsonl
    """


@command.command("list")
@MODE
@AS_JSON
def list_pages(mode: str, as_json: bool) -> None:
    """List the pages, and how many of their objects are not played at their recorded size.

    \b
    Example:
      firstflight localweb list
      firstflight localweb list --json --mode h1
    """
    with one_line(recipes.PageRecipeError):
        played = [play(page, Mode(mode)) for page in recipes.load_bundled()]
    show([page_facts(page) for page in played], as_json=as_json, lines=[HEADING, *map(describe_page, played)])


def describe_page(played: Played) -> str:
    page = played.page
    return (
        f"{page.site + SUFFIX:<32} {len(page.objects):>7} {len(page.hosts):>5} "
        f"{page.body_bytes / 1000:>7.0f} {len(played.inexact):>7}  {page.source.date} {page.source.tool}"
    )


def page_facts(played: Played) -> dict[str, object]:
    page = played.page
    return {
        "site": page.site + SUFFIX,
        "objects": len(page.objects),
        "hosts": len(page.hosts),
        "recorded_body_bytes": page.body_bytes,
        "played_body_bytes": sum(len(answer.body) for answer in played.answers),
        "moved": played.moved,
        "inexact": [*map(dataclasses.asdict, played.inexact)],
        "repairs": dict(page.repairs),
        "source": dataclasses.asdict(page.source),
    }


@command.command()
@MODE
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File that is written when all hosts listen: the sites, "
    "and the flags that Chromium needs to find them.",
)
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the log of what was sent, written at the end.",
)
@click.option("--pages", help="Number of pages, or their sites, comma-separated; all by default.")
def serve(mode: str, state: Path, log: Path | None, pages: str | None) -> None:
    """Play pages until interrupted.

    \b
    Example:
      firstflight localweb serve --mode recorded --state web.json --pages 3
    """
    with one_line(recipes.PageRecipeError, ListenerError, OSError):
        chosen = recipes.load_bundled()
        if pages is not None:
            chosen = recipes.choose(chosen, pages)
        web = LocalWeb(chosen, mode=Mode(mode))
        asyncio.run(play_until_signalled(web, state=state, log=log))


async def play_until_signalled(web: LocalWeb, *, state: Path, log: Path | None) -> None:
    """Serve until SIGINT or SIGTERM; write the log even after an error."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with web, canary() as url:
        facts = {
            "mode": web.mode.value,
            "sites": web.sites,
            "browser_flags": web.browser_flags,
            "canaries": [url],
        }
        try:
            write_whole(state, (json.dumps(facts, indent=2) + "\n").encode())
            await stop.wait()
        finally:
            if log is not None:
                write_whole(log, "".join(f"{line}\n" for line in web.log.lines()).encode())
