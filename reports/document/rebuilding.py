"""The commands that rebuild a report from its release."""

import shlex

from recordings.pages.recording import AUGUST_2025, SETS
from releases.catalogue import Release
from replay.networks.populations import POPULATIONS
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from schema.crawls import CrawlName
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
        commands[1:1] = [_import_command(one) for one in inputs.other_years]
    if inputs.back_cast.content:
        commands.append(f"firstflight replay backcast --seeds {inputs.back_cast.content['seeds']}")
    if replay is not None:
        commands.append(decide_command(name, replay) if replay.is_staged else _replay_command(name, replay))
    without = "" if replay else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def decide_command(crawl: CrawlName, replay: Replay | None = None) -> str:
    """The command that decides, with what its file had in place of the defaults."""
    asked = dict(replay.provenance["asked"]) if replay else {}
    pages = asked.pop("pages", str(crawl))
    given = {"pages": "recorded" if is_recorded(crawl.kind) else pages} | asked
    shown = {name: value for name, value in given.items() if not isinstance(value, list)}
    return "firstflight replay decide" + "".join(f" --set {name}={value}" for name, value in shown.items())


def _replay_command(name: CrawlName, replay: Replay) -> str:
    """The command that makes a full replay again."""
    facts = replay.provenance
    parameters = facts.get("parameters", {})
    (loads,) = replay.loads
    both = sorted(
        {(iw, paced) for iw, paced in zip(loads["iw"].to_pylist(), loads["pacing"].to_pylist(), strict=True)}
    )
    windows = ",".join(f"{iw}{'p' if paced else ''}" for iw, paced in both)
    command = f"firstflight replay run --crawl {name} --iw {windows} {_network_options(replay)}"
    command += f" --seeds {len(parameters.get('seeds', []))}"
    pages = facts.get("recipes", {}).get("pages")
    if pages and pages < facts["pages_there"]:
        command += f" --pages {pages}"
    return command + (" --everyone" if replay.replayed.everyone is not None else "")


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
    named = manifest.list_id if manifest.list_id in SETS else "FOLDER"
    folder = "" if named == AUGUST_2025 else f" {named}"
    version = f" --version {manifest.version}" if manifest.version > 1 else ""
    return f"firstflight import pages{folder}{version}"


def _network_options(replay: Replay) -> str:
    """Options for the replay's profiles, or for its population if it was stored or imported from a file."""
    profiles = replay.provenance.get("profiles", [])
    average = next(one for one in replay.populations if not one["slow"])
    if average.get("is_stored"):
        return f"--population {average['id']} --networks {len(profiles)}"
    if average["id"] in {one.id for one in POPULATIONS}:
        return f"--profiles {','.join(profile['id'] for profile in profiles)}"
    return (
        f"--population {average['id']}.csv --networks {len(profiles)} --population-measured "
        f"{average['measured']} --population-source {shlex.quote(average['source'])}"
    )
