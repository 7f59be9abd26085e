"""The plane of gain and cost of a report's verdict: in its page, in the brief and on the slide."""

from collections.abc import Iterator

from figures.frame import AltairChart, Frame
from figures.plane import PlanePanel, PlanePoint, draw_planes
from releases.formatting import NARROW, stated
from releases.interval import Interval
from replay.runs.policy import Policy
from reports.content import Report
from reports.forms.brief import Brief
from reports.sections.verdict import COSTS, GAINS, beside, is_known, policy_name
from verdict.rule import PER_LOAD, UNITS, Rule, Unit
from verdict.verdict import Candidate, Verdict

HEIGHT, SLIDE_HEIGHT = 280, 200


def draw_plane(report: Report, brief: Brief, width: int, *, is_slide: bool = False) -> AltairChart:
    """Draw a panel for each unit; a slide has the headline as its title, other drawings the finding."""
    verdict = report.verdict
    frame = Frame(
        title=brief.headline if is_slide else brief.finding,
        subtitle=f"{brief.finding} {brief.how_sure}" if is_slide else "",
        source=brief.source + _left_out(verdict),
        note=brief.marks,
        width=width,
    )
    return draw_planes(frame, [*_panels(verdict)], height=SLIDE_HEIGHT if is_slide else HEIGHT)


def _panels(verdict: Verdict | None) -> Iterator[PlanePanel]:
    rule = verdict.rule if verdict else Rule()
    for unit in UNITS:
        price = rule.price_pp(unit)
        yield PlanePanel(
            title=unit.capitalize(),
            price=price,
            price_text=f"2010\u2019s own step: {stated(price, 'pp')} sent again for each 1{NARROW}% saved",
            points=[point for policy, point in list_points(verdict, unit) if point.gain.estimate > 0],
        )


def list_points(verdict: Verdict | None, unit: Unit) -> list[tuple[Policy, PlanePoint]]:
    """Return the policies of known gain and cost; the recommended is bold."""
    at = UNITS.index(unit)
    points = []
    for candidate in verdict.candidates if verdict else ():
        gain, cost = (_known(candidate, names[at]) for names in (GAINS, COSTS))
        policy = candidate.policy
        if gain is not None and cost is not None:
            beyond = policy.beyond_ms
            point = PlanePoint(
                name=f"{policy.window} {policy.sending}"
                + ("" if beyond is None else f", {beyond}{NARROW}ms"),
                group="for all" if beyond is None else f"handshake beyond {beyond}{NARROW}ms",
                gain=gain,
                cost=cost,
                is_bold=verdict is not None and policy == verdict.policy,
            )
            points.append((policy, point))
    return points


def _known(candidate: Candidate, name: str) -> Interval | None:
    value = beside(candidate, name)
    return value if is_known(value) else None


def _left_out(verdict: Verdict | None) -> str:
    left_out = [policy for policy, point in list_points(verdict, PER_LOAD) if point.gain.estimate <= 0]
    return f" Not drawn, for they save no time: {', '.join(map(policy_name, left_out))}." if left_out else ""
