"""The commands that rebuild a report from its release."""

import shlex
from collections.abc import Mapping
from typing import Any

from recordings.pages.sets import AUGUST_2025, SETS
from releases.catalogue import Release
from reports.inputs.report_inputs import ReportInputs
from schema.crawls import CrawlName
from schema.recorded import is_recorded
from storage.report_versions import Publication
from verdict.replay_file import command_of


def rebuild_commands(inputs: ReportInputs) -> list[str]:
    """Return the commands that make or verify the release, repeat the back-cast, replay and build.

    `publishing_options` gives what the last needs for a version.
    """
    name, replay = inputs.release.manifest.crawl, inputs.replay
    commands = [f"firstflight verify --offline release {name}"]
    if is_recorded(name.kind):
        commands.insert(0, _import_command(inputs.release))
        commands[1:1] = [_import_command(year) for year in inputs.other_years]
    if inputs.back_cast.content:
        commands.append(f"firstflight replay backcast --seeds {inputs.back_cast.content['seeds']}")
    if replay is not None:
        commands.append(replay_command(name, replay.provenance.get("asked", {"until": "all"})))
        commands += [
            command_of(other.provenance.get("asked", {}), pages=other.crawl) for other in replay.confirming
        ]
    without = "" if replay else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def replay_command(crawl: CrawlName, asked: Mapping[str, Any]) -> str:
    pages = "recorded" if is_recorded(crawl.kind) else str(crawl)
    return command_of({name: value for name, value in asked.items() if name != "pages"}, pages=pages)


def publishing_options(publication: Publication) -> str:
    """Return the options of `firstflight report build` for one version of a report.

    >>> publishing_options(Publication(version=2, date="2027-01-15", reason="a site was withdrawn", corrects="shares"))
    " --version 2 --reason 'a site was withdrawn' --corrects shares --date 2027-01-15"
    """  # noqa: E501
    options = {
        "version": publication.version if publication.version > 1 else None,
        "reason": publication.reason,
        "corrects": publication.corrects,
        "date": publication.date,
    }
    return "".join(f" --{name} {shlex.quote(str(value))}" for name, value in options.items() if value)


def _import_command(release: Release) -> str:
    """Return the command that makes a recorded release; FOLDER stands for pages that do not come with the
    code.
    """
    manifest = release.manifest
    named = manifest.list_id if manifest.list_id in SETS else "FOLDER"
    folder = "" if named == AUGUST_2025 else f" {named}"
    version = f" --version {manifest.version}" if manifest.version > 1 else ""
    return f"firstflight import pages{folder}{version}"
