"""The commands that rebuild a report from its release."""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from recordings.pages.recording import BUNDLED, bundled_files, read_source
from releases.catalogue import Release
from replay.networks.populations import POPULATIONS
from replay.runs.conditions import FIRST_BYTE
from replay.runs.initial_window import Paced
from reports.decision.stored_problem import StagedReplay
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.harm_conditions import HIGH_LOAD
from reports.recommendation.rule import RULE
from schema.recorded import is_recorded
from storage.report_versions import Publication


def rebuild_commands(inputs: ReportInputs) -> list[str]:
    """Command lines that make or verify the release, repeat the back-cast,
    replay the pages and build the report.

    `publishing_options` gives the options that the last of them needs for a certain version.
    """
    name, replay = inputs.release.manifest.crawl, inputs.replay
    commands = [f"firstflight release verify --offline --crawl {name}"]
    if is_recorded(name.kind):
        commands.insert(0, _import_command(inputs.release))
    if inputs.instrument.content:
        commands.append(f"firstflight replay backcast --seeds {inputs.instrument.content['seeds']}")
    if inputs.staged:
        commands.append(decision_command(str(name), inputs.staged))
    if replay:
        seeds = len(replay.provenance.get("parameters", {}).get("seeds", []))
        commands.append(
            f"firstflight replay run --crawl {name}{_window_options(replay)} {_network_options(replay)} "
            f"--seeds {seeds}{_pages_option(replay)}{_few_pages_options(replay)}"
        )
    without = "" if replay or inputs.staged else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def publishing_options(publication: Publication) -> str:
    """The options of `firstflight report build` for one version of a report.

    >>> publishing_options(Publication(version=2, date="2027-01-15", reason="a site was withdrawn", corrects="shares"))
    " --version 2 --reason 'a site was withdrawn' --corrects shares --date 2027-01-15"
    """  # noqa: E501
    said = {
        "version": publication.version if publication.version > 1 else None,
        "reason": publication.reason,
        "corrects": publication.corrects,
        "date": publication.date,
    }
    return "".join(f" --{name} {shlex.quote(str(value))}" for name, value in said.items() if value)


def _import_command(release: Release) -> str:
    """The command that makes a release of recorded pages again;
    FOLDER stands for pages that do not come with the code."""
    manifest = release.manifest
    folder = "" if manifest.list_id == read_source(BUNDLED, bundled_files()).id else " FOLDER"
    version = f" --version {manifest.version}" if manifest.version > 1 else ""
    return f"firstflight import pages{folder}{version}"


def decision_command(crawl: str, staged: StagedReplay) -> str:
    """The command that makes the stages, and goes on with them where their budget is not used.

    A budget in loads makes the same loads on any machine, one in seconds does not.
    """
    plan, problem = staged.provenance, staged.problem
    asked = [f"firstflight replay run --crawl {crawl} --until decided"]
    budget = staged.facts[-1].get("budget") if staged.facts else None
    if budget:
        asked.append(f"--budget {budget['amount']:.0f}{'loads' if budget['unit'] == 'loads' else 's'}")
    average = next(one for one in problem.populations if not one.slow)
    if average.is_stored:
        asked.append(f"--population {average.id}")
    if plan["recipes"]["pages"] < plan["pages_there"]:
        asked.append(f"--pages {plan['recipes']['pages']}")
    if problem.windows != tuple(one.window for one in CANDIDATES):
        asked.append(f"--iw {','.join(map(repr, problem.windows))}")
    if problem.run != 1:
        asked.append(f"--run {problem.run}")
    return " ".join(asked)


def _pages_option(replay: Replay) -> str:
    """The option for the number of pages, unless all were replayed."""
    pages = replay.provenance.get("recipes", {}).get("pages")
    return f" --pages {pages}" if pages and pages < replay.provenance["pages_there"] else ""


def _window_options(replay: Replay) -> str:
    """The windows, and the option for pacing if all of them were replayed paced, too,
    beyond the pages of the ends of inputs."""
    cells = replay.cells.select(["visit_id", "iw", "pacing", "congestion_control", "discovery"])
    ends = cells.filter(pc.field("discovery") == FIRST_BYTE)
    own = cells.filter(pc.field("congestion_control") == RULE.congestion_control)
    paced, bursts = _loads(own, pacing=True), _loads(own, pacing=False)
    more = {iw for _, iw in paced - _loads(ends, pacing=False)}
    if more and paced == bursts:
        return f" --iw {_words({iw for _, iw in bursts})} --pacing off,on"
    return f" --iw {_words({*(iw for _, iw in bursts), *map(Paced, more)})}"


def _loads(cells: pa.Table, *, pacing: bool) -> set[tuple[int, int]]:
    """Pages and windows."""
    some = cells.filter(pc.field("pacing") == pacing)
    return {*zip(some["visit_id"].to_pylist(), some["iw"].to_pylist(), strict=True)}


def _words(windows: Iterable[int]) -> str:
    """Windows as the command line takes them."""
    return ",".join(map(repr, sorted(windows)))


def _network_options(replay: Replay) -> str:
    """Options for the replay's profiles, or for its population if it was stored or imported from a file."""
    average = next(one for one in replay.populations if not one["slow"])
    if average.get("is_stored"):
        return f"--population {average['id']} --networks {len(replay.own_profiles)}"
    if average["id"] in {one.id for one in POPULATIONS}:
        return f"--profiles {','.join(profile['id'] for profile in replay.profiles)}"
    return (
        f"--population {average['id']}.csv --networks {len(replay.own_profiles)} --population-measured "
        f"{average['measured']} --population-source {shlex.quote(average['source'])}"
    )


def _few_pages_options(replay: Replay) -> str:
    """Options for the harm conditions and the ends of inputs that were replayed,
    each on its few pages and at the same windows."""
    cells = replay.cells.select(["visit_id", "iw", "pacing", "queue", "background_load", "discovery"])
    # An end of an input has another load over the networks' own queues, which no harm condition has.
    harm = cells.filter(pc.field("background_load").is_valid() & pc.field("queue").is_valid())
    ends = cells.filter(pc.field("discovery") == FIRST_BYTE)
    pages = [len(pc.unique(some["visit_id"])) for some in (harm, ends)]
    options = ""
    if harm.num_rows:
        options += f" --harm {'all' if HIGH_LOAD in harm['background_load'].to_pylist() else 'core'}"
    if has_ends(replay.provenance):
        options += " --sensitivity"
    if not options:
        return ""
    options += f" --harm-pages {pages[0] or pages[1]}"
    if all(pages) and pages[0] != pages[1]:
        options += f" --sensitivity-pages {pages[1]}"
    few = {
        Paced(iw) if paced else iw
        for some in (harm, ends)
        for paced in (False, True)
        for _, iw in _loads(some, pacing=paced)
    }
    if few != {iw for _, iw in _loads(cells, pacing=False)}:
        options += f" --harm-iw {_words(few)}"
    return options


def has_ends(provenance: Mapping[str, Any]) -> bool:
    """Return whether a replay has loads at the ends of the inputs:
    of all inputs that there were when it was made."""
    return "sensitivity_populations" in provenance
