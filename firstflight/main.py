"""`firstflight`: the root of the command line."""

import click

from firstflight.checks import PACKAGES
from firstflight.errors import Stopped, describe_unwritable
from firstflight.lazy import LazyGroup
from firstflight.settings import from_environment

COMMANDS = {
    "demo": "run the whole pipeline on the bundled web",
    "list": "fetch lists of sites",
    "population": "fetch and list populations of networks",
    "optout": "leave sites out of crawls, and erase what was measured of them",
    "crawl": "plan, run, watch and seal a crawl",
    "import": "take what somebody else recorded or counted: pages, HAR files, HTTP Archive's series",
    "release": "build, publish, compare and list releases",
    "erratum": "record what was found wrong in a published release",
    "replay": "replay a release's pages over the Linux TCP stack",
    "report": "build the annual report",
    "verify": "check what is stored: database, releases, replays, reports",
    "sign": "sign releases, replays, reports and errata",
    "serve": "serve releases and reports",
    "metrics": "serve metrics for Prometheus",
    "database": "the database: its URL, copies, retention; stop the embedded server",
    "localweb": "play the bundled web on loopback",
    "alert": "send a message, or a test message, to where alerts go",
    "doctor": "check what this machine has and lacks",
}

MODULES = {"import": "importing"}


MOVED = {
    ("database", "check"): "verify database",
    ("release", "verify"): "verify release",
    ("report", "verify"): "verify report",
}


class Commands(LazyGroup):
    """The commands of firstflight.commands, each the `command` of its module."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; Ctrl-C, a missing library and an unwritable folder end it with a message."""
        try:
            return super().invoke(ctx)
        except click.NoSuchCommand as exc:
            group = exc.ctx.info_name if exc.ctx else None
            if moved := MOVED.get((group or "", exc.command_name)):
                message = f"no such command {exc.command_name!r}: write `firstflight {moved}`"
                raise click.UsageError(message, exc.ctx) from exc
            raise
        except KeyboardInterrupt:
            raise Stopped("what is whole is kept, and the same command can be run again") from None
        except ModuleNotFoundError as exc:
            if exc.name is None or exc.name.partition(".")[0] in PACKAGES:
                raise
            message = (
                f"this command needs the Python package {exc.name}: `firstflight doctor` says what to install"
            )
            raise click.ClickException(message) from exc
        except OSError as exc:
            reason = describe_unwritable(exc)
            if reason is None:
                raise
            raise click.ClickException(reason) from exc

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=Commands,
    places={name: f"firstflight.commands.{MODULES.get(name, name)}:command" for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="firstflight")
@click.pass_context
def main(ctx: click.Context) -> None:
    """How much of the web fits into the first flight of packets, and how large should that flight be?

    \b
    Example:
      firstflight demo                   the whole line on the bundled web
      firstflight crawl --help
    """
    ctx.obj = from_environment()
