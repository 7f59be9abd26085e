"""`firstflight localweb`: play the bundled web on loopback, or list its pages."""

import asyncio
import json
import signal
from pathlib import Path

import click

from firstflight.commands.options import AS_JSON
from firstflight.errors import one_line
from localweb import recipes
from localweb.content import Played, play
from localweb.modes import SUFFIX, Mode
from localweb.server import LocalWeb, canary
from localweb.serving.listener import ListenError
from localweb.serving.web import Ports
from storage.staging import write_whole

MODES = click.Choice([mode.value for mode in Mode])


@click.group()
def command() -> None:
    """Play the bundled web on loopback: structure and sizes of real pages, with made-up content.

    \b
    Example:
      firstflight localweb list
      firstflight localweb serve --mode h2 --state web.json --log sent.jsonl
    """


@command.command("list")
@click.option(
    "--mode",
    type=MODES,
    default=Mode.RECORDED.value,
    show_default=True,
    help="Protocol: HTTP/1.1 clear or over TLS, HTTP/2, or as each host was recorded.",
)
@AS_JSON
def list_pages(mode: str, as_json: bool) -> None:
    """List the pages, and how many of their objects are not played at their recorded size.

    \b
    Example:
      firstflight localweb list
      firstflight localweb list --json --mode h1
    """
    with one_line(recipes.RecipeError):
        played = [play(page, Mode(mode)) for page in recipes.load_bundled()]
    if as_json:
        click.echo(json.dumps([facts(page) for page in played], indent=2))
        return
    click.echo(f"{'site':<32} {'objects':>7} {'hosts':>5} {'kB':>7} {'inexact':>7}  recorded")
    for entry in played:
        page = entry.page
        row = (
            f"{page.site + SUFFIX:<32} {len(page.objects):>7} {len(page.hosts):>5} "
            f"{page.body_bytes / 1000:>7.0f}"
        )
        click.echo(f"{row} {len(entry.inexact):>7}  {page.source.date} {page.source.tool}")


def facts(played: Played) -> dict[str, object]:
    """Return the facts about a page for --json."""
    page = played.page
    return {
        "site": page.site + SUFFIX,
        "objects": len(page.objects),
        "hosts": len(page.hosts),
        "recorded_body_bytes": page.body_bytes,
        "played_body_bytes": sum(len(answer.body) for answer in played.answers),
        "moved": played.moved,
        "inexact": [
            {
                "index": item.index,
                "kind": item.kind,
                "recorded_bytes": item.recorded_bytes,
                "played_bytes": item.played_bytes,
                "reason": item.reason,
            }
            for item in played.inexact
        ],
        "repairs": dict(page.repairs),
        "source": {name: getattr(page.source, name) for name in page.source.__slots__},
    }


@command.command()
@click.option(
    "--mode",
    type=MODES,
    default=Mode.RECORDED.value,
    show_default=True,
    help="Protocol: HTTP/1.1 clear or over TLS, HTTP/2, or as each host was recorded.",
)
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
@click.option(
    "--http-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of http on every host; 0 lets the system choose.",
)
@click.option(
    "--https-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of https on every host; 0 lets the system choose.",
)
def serve(
    mode: str, state: Path, log: Path | None, pages: str | None, http_port: int, https_port: int
) -> None:
    """Play pages until interrupted.

    \b
    Example:
      firstflight localweb serve --mode recorded --state web.json --pages 3
    """
    with one_line(recipes.RecipeError, ListenError, OSError):
        chosen = recipes.load_bundled()
        if pages is not None:
            chosen = recipes.choose(chosen, pages)
        web = LocalWeb(chosen, mode=Mode(mode), ports=Ports(http_port, https_port))
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
