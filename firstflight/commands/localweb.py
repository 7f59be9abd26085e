"""`firstflight localweb`: play the bundled web on loopback, or say what is in it."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firstflight.errors import one_line
from localweb import recipes
from localweb.canary import canary
from localweb.content import play
from localweb.modes import SUFFIX, Mode
from localweb.server import LocalWeb, LocalWebError, Ports
from storage.staging import write_whole

if TYPE_CHECKING:
    from localweb.content import Played

MODES = click.Choice([mode.value for mode in Mode])


@click.group()
def command() -> None:
    """Play the bundled web on loopback: real pages' structure and sizes, with bytes of our own.

    \b
    Example:
      firstflight localweb list
      firstflight localweb serve --mode h2 --state web.json --log sent.jsonl
    """


@command.command("list")
@click.option("--mode", type=MODES, default=Mode.RECORDED.value, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="All facts, with sources, repairs and inexact sizes.")
def list_pages(mode: str, as_json: bool) -> None:
    """The pages, and which of their objects are not played at their recorded size.

    \b
    Example:
      firstflight localweb list
      firstflight localweb list --json --mode h1
    """
    with one_line(recipes.RecipeError):
        played = [play(page, Mode(mode)) for page in recipes.bundled()]
    if as_json:
        click.echo(json.dumps([facts(one) for one in played], indent=2))
        return
    click.echo(f"{'site':<32} {'objects':>7} {'hosts':>5} {'kB':>7} {'inexact':>7}  recorded")
    for one in played:
        page = one.page
        row = f"{page.site + SUFFIX:<32} {len(page.objects):>7} {len(page.hosts):>5} {page.body_bytes / 1000:>7.0f}"
        click.echo(f"{row} {len(one.inexact):>7}  {page.source.date} {page.source.tool}")


def facts(played: Played) -> dict[str, object]:
    """What there is to say of a page, for --json."""
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
                "index": one.index,
                "kind": one.kind,
                "recorded_bytes": one.recorded_bytes,
                "played_bytes": one.played_bytes,
                "reason": one.reason,
            }
            for one in played.inexact
        ],
        "repairs": dict(page.repairs),
        "source": {name: getattr(page.source, name) for name in page.source.__slots__},
    }


@command.command()
@click.option("--mode", type=MODES, default=Mode.RECORDED.value, show_default=True)
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File that says, once all hosts listen, which sites there are and with which flags Chromium finds them.",
)
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for what was sent, written at the end.",
)
@click.option("--pages", help="How many, or the sites of those wanted, comma-separated; all by default.")
@click.option(
    "--http-port", type=click.IntRange(0, 65535), default=0, help="Of every host; 0 lets the system choose."
)
@click.option("--https-port", type=click.IntRange(0, 65535), default=0, help="Likewise.")
def serve(
    mode: str, state: Path, log: Path | None, pages: str | None, http_port: int, https_port: int
) -> None:
    """Play pages until interrupted.

    \b
    Example:
      firstflight localweb serve --mode recorded --state web.json --pages 3
    """
    with one_line(recipes.RecipeError, LocalWebError, OSError):
        chosen = recipes.bundled()
        if pages is not None:
            chosen = recipes.choose(chosen, pages)
        web = LocalWeb(chosen, mode=Mode(mode), ports=Ports(http_port, https_port))
        asyncio.run(play_until_told(web, state=state, log=log))


async def play_until_told(web: LocalWeb, *, state: Path, log: Path | None) -> None:
    """Serve until SIGINT or SIGTERM; the log is written whatever ends it."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    async with web, canary() as url:
        facts = {
            "mode": web.mode.value,
            "sites": web.sites,
            "browser_flags": web.browser_flags,
            "canaries": [url],
        }
        try:
            write_whole(state, (json.dumps(facts, indent=2) + "\n").encode())
            await told.wait()
        finally:
            if log is not None:
                write_whole(log, "".join(f"{line}\n" for line in web.log.lines()).encode())
