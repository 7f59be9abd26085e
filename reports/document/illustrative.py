"""Quality of a report: whether its pages were recorded by somebody else, and why it is illustrative."""

import re

from releases.formatting import apart, grouped, quantity
from replay.networks.profiles import MOST_MONTHS, is_stale
from reports.content import RecordedFacts
from reports.inputs.report_inputs import ReportInputs
from schema.recorded import is_recorded


def illustrative_because(inputs: ReportInputs) -> list[str]:
    crawl = inputs.release.manifest.crawl
    because = []
    if is_bundled(inputs):
        because.append("the crawl is of the bundled local web, not of live sites")
    populations = inputs.replay.populations if inputs.replay else ()
    old = [population["id"] for population in populations if is_stale(population["measured"], crawl.month)]
    if old:
        because.append(f"the network populations {', '.join(old)} are more than {MOST_MONTHS} months old")
    return because


def is_bundled(inputs: ReportInputs) -> bool:
    kind = inputs.release.manifest.crawl.kind
    return kind != "web" and not is_recorded(kind)


def illustrative_mark(inputs: ReportInputs) -> str:
    """Return what stands before an illustrative answer."""
    if is_bundled(inputs):
        return "By the bundled pages, illustrative"
    return "Illustrative" if illustrative_because(inputs) else ""


def limits_sentence(recording: RecordedFacts, *, vantage: str) -> str:
    source, day = re.split("[,;] ", recording["source"])[0], recording["recorded"].partition(",")[0]
    when = f"from {day}" if " to " in day else f"on one day, {day},"
    whence = "through a VPN" if "vpn" in vantage.split("-") else f"from the vantage {vantage}"
    share = recording["inferred"]["connections"]["share"]
    rebuilt = f"; connections are rebuilt for {quantity(100 * share, '%')} of the requests" if share else ""
    if "protocols" in recording["inferred"]:
        rebuilt = "; protocols and connections, which a proxy hid, are assigned"
    return (
        f"Recorded pages, not the live web: {grouped(recording['pages'])} from {apart(source)}, loaded "
        f"{when} by somebody else\u2019s browser {whence}{rebuilt}."
    )
