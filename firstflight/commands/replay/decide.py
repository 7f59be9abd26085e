"""`firstflight replay decide`: loads in stages until the window of the year is settled."""

import contextlib
import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
from tqdm import tqdm

from firstflight.commands.replay.lab import VIRTUAL, find_lab
from firstflight.commands.replay.sources import find_source
from firstflight.commit import code_commit
from firstflight.errors import GO_ON, Stopped, one_line
from firstflight.settings import Settings
from replay.errors import ReplayError
from replay.lab.guest_process import usable_cpus
from replay.lab.player import player_key
from replay.runs.replay_folder import kernel_facts
from verdict.arms import ARMS
from verdict.calibration import standing
from verdict.deciding import Loaded, decide
from verdict.question import STRATA, Question, conditions_of
from verdict.replayed import Replayed, month_of, of_stages, read_stages, rule_of
from verdict.rule import RULE, RULE_VERSION
from verdict.sampling import Plan
from verdict.stages import Stages
from verdict.stored import write_verdict


class ReplayFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A decision as its file describes it."""

    pages: str = "recorded"
    """`recorded`, the pages of August 2025 that come with the code; or a crawl's name or a unique prefix."""
    candidates: tuple[str, ...] = tuple(map(repr, RULE.candidates))
    incumbent: str = repr(RULE.incumbent)
    run: int = 1
    """Other runs draw other networks, pages and random events."""
    budget_minutes: float = 120.0
    """Minutes of a core."""
    senders: str = "published"
    distance: str = "recorded"
    http3: str = "stand-in"
    queues: str = "default"
    arms: tuple[str, ...] = tuple(ARMS)
    """Other inputs that are loaded once all is settled, for the table of who would decide otherwise."""


@click.command("decide")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="A value in place of the file's. Repeatable."
)
@click.option(
    "--guests", type=click.IntRange(1, 256), help="Guests at once, a core each.  [default: all usable cores]"
)
@click.pass_obj
def run_decide(settings: Settings, file: Path | None, *, given: tuple[str, ...], guests: int | None) -> None:
    """Decide which initial window to recommend, by loads in stages, until all is settled.

    It also ends when the budget is used. Then it loads arms: other inputs, for the table of who would decide
    otherwise. FILE is a TOML file that may set pages, candidates, incumbent, run, budget_minutes, senders,
    distance, http3, queues and arms; without it the defaults hold, which are those of the yearly answer. The
    stages and verdict.json are in `decisions` of the data folder. A run that is stopped goes on from its
    whole parts.

    \b
    Example:
      firstflight replay decide
      firstflight replay decide --set run=2 --set budget_minutes=30 --set arms=[]
    """
    with one_line(ReplayError, OSError, ValueError, msgspec.ValidationError):
        asked = read_file(file, given)
        if unknown := sorted({*asked.arms} - {*ARMS}):
            raise ValueError(f"arms are {', '.join(ARMS)}, not {', '.join(unknown)}")
        is_recorded = asked.pages == "recorded"
        source = find_source(
            settings, crawl=None if is_recorded else asked.pages, recorded=is_recorded, hars=(), logs=()
        )
        values = msgspec.to_builtins(asked)
        rule = rule_of(values)
        question = Question(
            recipes=source.recipes, run=asked.run, incumbent=rule.incumbent, conditions=conditions_of(values)
        )
        folder = settings.data_dir / "decisions" / f"{source.folder}.{checksum(asked)}"
        facts = {
            **source.facts,
            "commit": code_commit(settings.commit),
            "kernel": kernel_facts(),
            "player": player_key(),
            "rule_version": RULE_VERSION,
            "asked": values,
        }
        lab = find_lab(settings.cache_dir, VIRTUAL)
        stages = Stages(folder, question, lab, facts, guests=guests or len(usable_cpus()))

        @contextlib.contextmanager
        def told(what: str, loads: int) -> Iterator[None]:
            with tqdm(desc=what, unit="load", total=loads, disable=None) as stages.progress:
                yield

        def load(plans: Sequence[Plan]) -> Loaded:
            with told(f"stage {len(plans)}", plans[-1].loads):
                return stages(plans)

        try:
            for found in decide(load, rule, strata=STRATA, budget_s=60 * asked.budget_minutes):
                replayed = Replayed(
                    looks=found.looks, everyone=found.everyone, rule=rule, month=month_of(facts)
                )
                verdict = replayed.verdict(standing(settings.backcast))
                path = write_verdict(folder, verdict)
                click.echo(f"stage {len(found.plans)}: {verdict['headline']}", err=True)
            for name in asked.arms:
                with told(name, ARMS[name].plan.loads):
                    stages.arm(name)
        except KeyboardInterrupt:
            raise Stopped(
                f"whole stages with their verdict, and parts of the next, are kept in {folder}, and {GO_ON}"
            ) from None
        verdict = of_stages(*read_stages(folder)).verdict(standing(settings.backcast))
        path = write_verdict(folder, verdict)
    for one in verdict["candidates"]:
        click.echo(f"IW {one['window']}: {one['verdict']}")
    click.echo("\n".join([*verdict["sentences"], str(path)]))


def read_file(file: Path | None, given: tuple[str, ...]) -> ReplayFile:
    """The file with what was given in its place.

    ValueError or msgspec.ValidationError with the name of the value.
    """
    text = "" if file is None else file.read_text(encoding="utf-8")
    values = tomllib.loads(text)
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise ValueError(f"--set {one}: give NAME=VALUE")
        try:
            values[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[name] = value
    return msgspec.convert(values, ReplayFile)


def checksum(asked: ReplayFile) -> str:
    """Eight characters by the content of a file."""
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()[:8]
