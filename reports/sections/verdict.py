"""What policies save and cost, by round trip and by list, and who would decide otherwise: the verdict as
figures and tables."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from releases.formatting import NARROW, grouped, quantity, range_text, stated
from releases.interval import Interval
from replay.runs.policy import AT_ONCE, Policy
from reports.sections.shape import Column, Figure, ReferenceLine, Row, Section, Table, interval
from verdict.estimates import GAIN, MILLISECONDS, PARTS, RESENT, name_of
from verdict.ledger import LedgerRow as LedgerRow
from verdict.rate_classes import (
    PUBLISHED_MBPS,
    PUBLISHED_PACKETS_PERCENT,
    PUBLISHED_RESPONSES_PERCENT,
    RateClassResult,
    SharedResult,
)
from verdict.rule import IN_SUM, PER_LOAD, Rule
from verdict.verdict import Candidate, GroupResult, GuardResult, ListResult, Verdict

PACING = (
    "sends the first ten segments of a connection at once, and the rest at twice the window in a round trip"
)
"""What Linux does with a paced window; measured on Linux 6.12."""

GAINS = (name_of(GAIN, PER_LOAD), name_of(GAIN, IN_SUM))
COSTS = (name_of(RESENT, PER_LOAD), name_of(RESENT, IN_SUM))

POLICY = Column(id="policy", title="first flight", kind="text")
BY_ITSELF = "Intervals of 95 %, each number by itself."
TOGETHER = "Intervals hold together with 95 %, over all first flights, quantities and looks."

TURNS = {True: "yes", False: "no", None: "the loads do not tell"}

HOLDS = {True: "holds", False: "violated", None: "too few loads to tell"}


def policy_name(policy: Policy) -> str:
    """Return the name of a policy in tables and figures.

    >>> policy_name(Policy(16)), policy_name(Policy(20, "spread")), policy_name(Policy(16, "paced", 100))
    ('16 at once', '20 spread', '16 paced, beyond 100 ms')
    """
    beyond = "" if policy.beyond_ms is None else f", beyond {policy.beyond_ms} ms"
    return f"{policy.window} {policy.sending}{beyond}"


def beside(candidate: Candidate, name: str) -> Interval | None:
    """Return a quantity of a policy by itself."""
    return next((entry.interval for entry in candidate.beside if entry.id == name), None)


def is_known(value: Interval | None) -> bool:
    return value is not None and value.estimate == value.estimate


def asked_candidate(verdict: Verdict | None) -> Candidate | None:
    return verdict.of(verdict.asked) if verdict and verdict.asked else None


def policy_rows(verdict: Verdict) -> list[Row]:
    """Return what each policy saves and costs in both units, what others pay, its standing and which lists
    confirm it, the same in every form.
    """
    shared = {result.policy: result for result in verdict.shared}
    return [
        {
            "policy": policy_name(candidate.policy),
            "standing": standing_text(candidate, verdict.policy),
            "gain": interval(beside(candidate, GAINS[0])),
            "gain_in_sum": interval(beside(candidate, GAINS[1])),
            "milliseconds": interval(beside(candidate, MILLISECONDS)),
            "resent": interval(beside(candidate, COSTS[0])),
            "resent_in_sum": interval(beside(candidate, COSTS[1])),
            **{part: interval(beside(candidate, name_of(part, PER_LOAD))) for part in PARTS},
            "others": interval(longer(shared.get(candidate.policy))),
            "confirmed": confirmed_text(candidate.policy, verdict.lists),
        }
        for candidate in verdict.candidates
    ]


def longer(result: SharedResult | None) -> Interval | None:
    return None if result is None else -result.short_flows_percent


def standing_text(candidate: Candidate, recommended: Policy) -> str:
    if candidate.policy == recommended:
        return f"{candidate.standing}, recommended"
    return candidate.standing or "shown alone"


def confirmed_text(policy: Policy, lists: Sequence[ListResult]) -> str:
    asked = [each for each in lists if any(candidate.policy == policy for candidate in each.candidates)]
    if not asked:
        return "not asked"
    return ", ".join(each.title for each in asked if policy in each.confirms) or "by none"


def policies_table(verdict: Verdict) -> Table:
    limits = [guard.limit_percent for guard in verdict.rule.guards if guard.everyone]
    return Table(
        id="policies",
        title=f"What a first flight saves and costs against {verdict.rule.incumbent.window} segments at once",
        columns=(
            POLICY,
            Column(id="standing", title="standing", kind="text"),
            Column(id="gain", title="page time saved, per load", unit="%", kind="interval"),
            Column(id="gain_in_sum", title="saved, in sum", unit="%", kind="interval"),
            Column(id="milliseconds", title="saved a page", unit="ms", kind="interval"),
            Column(id="resent", title="sent again, per load", unit="pp", kind="interval"),
            Column(id="resent_in_sum", title="sent again, in sum", unit="pp", kind="interval"),
            Column(id="dropped", title="dropped by the queue, per load", unit="pp", kind="interval"),
            Column(id="spurious", title="sent again needlessly, per load", unit="pp", kind="interval"),
            Column(
                id="others",
                title="others\u2019 short flows longer",
                unit="%",
                kind="interval",
                near=tuple(limits),
            ),
            Column(id="confirmed", title="confirmed by", kind="text"),
        ),
        rows=tuple(policy_rows(verdict)),
        notes=(
            "Per load every page counts alike; in sum every millisecond and every byte does. pp: percentage "
            "points of the payload. Others\u2019 short flows: on a half-loaded line where everyone sends so. "
            f"{BY_ITSELF}",
        ),
    )


def policies_section(verdict: Verdict, plane: Figure) -> Section:
    """State what each policy saves and costs."""
    rule = verdict.rule
    return Section(
        id="policies",
        title="What a larger first flight saves, and what it costs",
        lead="A larger first flight saves round trips while a connection starts, and may overflow the queue "
        "before a slow line. It is worth it if it costs no more than ten segments did in 2010: "
        f"{stated(rule.price_per_load_pp, 'pp')} of payload sent again for each 1{NARROW}% of page time "
        f"saved per load, and {stated(rule.price_in_sum_pp, 'pp')} in sum. Linux, if it paces, {PACING}; "
        "spread: all of a first flight evenly over the handshake\u2019s round trip.",
        figures=(plane, *everyone_figure(verdict.shared, rule)),
        tables=(policies_table(verdict), *guards_table(verdict.guards)),
    )


def everyone_figure(shared: Sequence[SharedResult], rule: Rule) -> Iterator[Figure]:
    rows = [(result.policy, longer(result)) for result in sorted(shared, key=lambda each: each.policy)]
    known = [(policy, more) for policy, more in rows if more is not None and is_known(more)]
    if not known:
        return
    told = [(more.estimate, policy) for policy, more in known if more.excludes_zero]
    title = "What others on the line pay if everyone follows a policy"
    if told:
        value, policy = max(told)
        amount = f"{quantity(abs(value), '%', 2)} {'longer' if value > 0 else 'less'}"
        title = f"With {policy_name(policy)}, others\u2019 short flows take {amount}"
    yield Figure(
        id="fig-everyone",
        title=title,
        caption="Others\u2019 short flows on a half-loaded line where everyone follows a policy: time beyond "
        f"that at {rule.incumbent.window} segments, with 95 % interval.",
        drawing="dots",
        x="others",
        y="policy",
        columns=(POLICY, Column(id="others", title="longer", unit="%", kind="interval")),
        rows=tuple({"policy": policy_name(policy), "others": interval(more)} for policy, more in known),
        lines=(
            ReferenceLine(value=0.0, label=""),
            *(
                ReferenceLine(value=guard.limit_percent, label=f"limit, {stated(guard.limit_percent, '%')}")
                for guard in rule.guards
                if guard.everyone
            ),
        ),
    )


def guards_table(guards: Sequence[GuardResult]) -> Iterator[Table]:
    if guards:
        yield Table(
            id="guards",
            title="Guards, asked of what is worth it",
            columns=(
                POLICY,
                Column(id="what", title="what", kind="text"),
                Column(id="longer", title="longer", unit="%", kind="interval"),
                Column(id="limit", title="limit", unit="%", kind="stated"),
                Column(id="verdict", title="verdict", kind="text"),
            ),
            rows=tuple(
                {
                    "policy": policy_name(guard.policy),
                    "what": guard.what,
                    "longer": interval(guard.longer_percent),
                    "limit": guard.limit_percent,
                    "verdict": HOLDS[guard.holds],
                }
                for guard in guards
            ),
        )


def round_trips_section(verdict: Verdict) -> Section:
    return Section(
        id="round-trips",
        title="For whom the answer differs, by round trip",
        lead="A server knows how long a connection\u2019s handshake took before it sends its first response. "
        "Pages are grouped by the longest handshake of their connections.",
        figures=tuple(groups_figure(verdict)),
        tables=(
            *([round_trips_table(verdict.groups)] if verdict.groups else ()),
            *([rate_classes_table(verdict.levels, verdict.rule)] if verdict.levels else ()),
        ),
    )


def groups_figure(verdict: Verdict) -> Iterator[Figure]:
    rows: list[Row] = [
        {
            "title": f"{group.title} ({quantity(100 * group.share, '%', 2)})",
            "policy": policy_name(candidate.policy),
            "benefit": interval(candidate.per_load_pp),
        }
        for group in verdict.groups
        for candidate in group.candidates
        if candidate.policy.sending != AT_ONCE and is_known(candidate.per_load_pp)
    ]
    if not rows:
        return
    told = [
        (candidate.per_load_pp.estimate, candidate.policy, group.title)
        for group in verdict.groups
        for candidate in group.candidates
        if candidate.per_load_pp and candidate.per_load_pp.lower > 0
    ]
    title = "Net benefit by the round trip of the handshake"
    if told:
        value, policy, where = max(told)
        gains = f"{policy_name(policy)}, {quantity(value, 'pp', 2)} beyond its price"
        title = f"{where.capitalize()} gain most: {gains}"
    yield Figure(
        id="fig-groups",
        title=title,
        caption="2010\u2019s price times page time saved per load, less payload sent again, by the "
        f"longest handshake of a page. Right of zero a first flight is worth its price. {TOGETHER}",
        drawing="dots",
        x="benefit",
        y="title",
        series="policy",
        columns=(
            Column(id="title", title="pages", kind="text"),
            POLICY,
            Column(id="benefit", title="net benefit per load", unit="pp", kind="interval"),
        ),
        rows=tuple(rows),
        lines=(ReferenceLine(value=0.0, label=""),),
        domain=share_axis([row["benefit"] for row in rows], [0.0]),
    )


def round_trips_table(groups: Sequence[GroupResult]) -> Table:
    return Table(
        id="round-trips",
        title="The same by the longest handshake of a page, per load",
        columns=(
            POLICY,
            *(
                column
                for group in groups
                for column in (
                    Column(id=f"{group.id}-gain", title=f"{group.title}: saved", unit="%", kind="interval"),
                    Column(id=f"{group.id}-resent", title="sent again", unit="pp", kind="interval"),
                )
            ),
        ),
        rows=tuple(round_trip_rows(groups)),
        notes=(f"Shares of all loads: {shares_text(groups)}. {BY_ITSELF}",),
    )


def round_trip_rows(groups: Sequence[GroupResult]) -> list[Row]:
    """Return what each policy for all saves and sends again by round trip, the same in every form."""
    rows: dict[Policy, dict[str, object]] = {}
    for group in groups:
        for candidate in group.candidates:
            row = rows.setdefault(candidate.policy, {"policy": policy_name(candidate.policy)})
            row[f"{group.id}-gain"] = interval(beside(candidate, GAINS[0]))
            row[f"{group.id}-resent"] = interval(beside(candidate, COSTS[0]))
    return list(rows.values())


def shares_text(groups: Sequence[GroupResult]) -> str:
    return ", ".join(f"{group.title} {quantity(100 * group.share, '%', 2)}" for group in groups)


def rate_classes_table(results: Sequence[RateClassResult], rule: Rule) -> Table:
    """State what the window in force sends again, by rate."""
    return Table(
        id="levels",
        title=f"What {rule.incumbent.window} segments send again, by the line\u2019s rate",
        columns=(
            Column(id="title", title="over", kind="text"),
            Column(id="share", title="of all loads", unit="%"),
            Column(id="resent", title="payload sent again", unit="%", kind="interval"),
            Column(id="for_loss", title="of it for a loss", unit="%", kind="interval"),
            Column(id="spurious", title="of it needlessly", unit="%", kind="interval"),
            Column(id="dropped", title="payload that queues dropped", unit="%", kind="interval"),
            Column(id="responses", title="responses sent again in part", unit="%", kind="interval"),
        ),
        rows=tuple(
            {
                "title": result.title,
                "share": 100 * result.share,
                "resent": interval(result.resent_percent),
                "for_loss": interval(result.for_loss_percent),
                "spurious": interval(result.spurious_percent),
                "dropped": interval(result.dropped_percent),
                "responses": interval(result.responses_percent),
            }
            for result in results
        ),
        notes=(
            "A server does not know the rate of a line before its first response: the table explains, and "
            "advises nothing. "
            f"Published: {PUBLISHED_PACKETS_PERCENT} % of packets and {PUBLISHED_RESPONSES_PERCENT} % of "
            f"responses of Google\u2019s web in 2011, to clients with a mean rate of {PUBLISHED_MBPS} Mbps "
            "(Dukkipati et al., Proportional Rate Reduction for TCP, IMC 2011).",
        ),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DecidingQuantity:
    """A quantity that decides on a policy."""

    id: str
    title: str
    unit: str
    field: str


DECIDING = (
    DecidingQuantity(id="per-load", title="net benefit per load", unit="pp", field="per_load_pp"),
    DecidingQuantity(id="in-sum", title="net benefit in sum", unit="pp", field="in_sum_pp"),
    DecidingQuantity(
        id="touched", title="page time saved where it applies", unit="%", field="touched_percent"
    ),
)


def lists_section(verdict: Verdict) -> Iterator[Section]:
    """Yield each list's answer, side by side."""
    if not verdict.lists:
        return
    others = " and ".join(each.title for each in verdict.lists)
    yield Section(
        id="lists",
        title="The answer by each list of pages",
        lead=f"The pages of {verdict.title} decide; those of {others}, of other sites, never "
        "replayed before, confirm what is worth it there or do not. The lists are never pooled. "
        f"{spread_text(verdict)}".rstrip(),
        figures=tuple(lists_figure(verdict)),
        tables=(lists_table(verdict),),
    )


def lists_of(verdict: Verdict) -> Iterator[tuple[str, str, int, dict[Policy, Candidate]]]:
    lists: tuple[Verdict | ListResult, ...] = (verdict, *verdict.lists)
    for each in lists:
        candidates = {candidate.policy: candidate for candidate in each.candidates}
        yield each.crawl, each.title, each.pages, candidates


def list_rows(verdict: Verdict) -> Iterator[tuple[Policy, DecidingQuantity, list[Interval]]]:
    by_list = [candidates for *_, candidates in lists_of(verdict)]
    for policy in by_list[0]:
        if all(policy in candidates for candidates in by_list):
            for deciding in DECIDING:
                values = [getattr(candidates[policy], deciding.field) for candidates in by_list]
                if all(map(is_known, values)):
                    yield policy, deciding, values


def spread_text(verdict: Verdict) -> str:
    """Tell how far apart the lists are for the asked policy."""
    asked = asked_candidate(verdict)
    for policy, deciding, values in list_rows(verdict) if verdict.lists else ():
        if asked and policy == asked.policy and deciding is DECIDING[0]:
            estimates = [value.estimate for value in values]
            ends = range_text(min(estimates), max(estimates), deciding.unit)
            return f"Between lists, the {deciding.title} of {policy_name(policy)} spans {ends}."
    return ""


def lists_figure(verdict: Verdict) -> Iterator[Figure]:
    titles = [title for _, title, *_ in lists_of(verdict)]
    rows: list[Row] = [
        {"list": title, "policy": policy_name(policy), "benefit": interval(value)}
        for policy, deciding, values in list_rows(verdict)
        if deciding is DECIDING[0]
        for title, value in zip(titles, values, strict=True)
    ]
    if rows:
        yield Figure(
            id="fig-lists",
            title="Net benefit by list of pages",
            caption="Net benefit per load on each list, by itself. Right of zero a first flight is "
            f"worth its price. {TOGETHER}",
            drawing="dots",
            x="benefit",
            y="policy",
            series="list",
            columns=(
                POLICY,
                Column(id="list", title="list", kind="text"),
                Column(id="benefit", title="net benefit per load", unit="pp", kind="interval"),
            ),
            rows=tuple(rows),
            lines=(ReferenceLine(value=0.0, label=""),),
            domain=share_axis([row["benefit"] for row in rows], [0.0]),
        )


def lists_table(verdict: Verdict) -> Table:
    lists = [*lists_of(verdict)]
    rows = [
        {
            "policy": policy_name(policy),
            "what": deciding.title,
            "unit": deciding.unit,
            **{crawl: interval(value) for (crawl, *_), value in zip(lists, values, strict=True)},
            "spread": max(value.estimate for value in values) - min(value.estimate for value in values),
            "confirmed": confirmed_text(policy, verdict.lists),
        }
        for policy, deciding, values in list_rows(verdict)
    ]
    return Table(
        id="lists",
        title="What decides, by list of pages",
        columns=(
            POLICY,
            Column(id="what", title="what", kind="text"),
            Column(id="unit", title="unit", kind="text"),
            *(
                Column(id=crawl, title=f"{title}, {grouped(pages)} pages", kind="interval")
                for crawl, title, pages, _ in lists
            ),
            Column(id="spread", title="largest less smallest"),
            Column(id="confirmed", title="confirmed by", kind="text"),
        ),
        rows=tuple(rows),
        notes=(f"Each list by itself, never pooled. {TOGETHER}",),
    )


def otherwise_section(verdict: Verdict) -> Section:
    """State who would decide otherwise: paired differences by other prices and inputs."""
    asked = asked_candidate(verdict)
    name = policy_name(asked.policy) if asked else "the policy"
    return Section(
        id="otherwise",
        title="Who would decide otherwise",
        lead=f"Each row changes one price, quantity or input, and says how far the net benefit of {name} is "
        f"from the rule\u2019s on the same draws. {describe_turns(verdict.ledger)}",
        figures=tuple(ledger_figure(verdict.ledger, name)),
        tables=(ledger_table(verdict.ledger),) if verdict.ledger else (),
    )


def describe_turns(rows: Sequence[LedgerRow]) -> str:
    """State which rows turn the answer, and of how many that is unknown."""
    turning = [row.title for row in rows if row.turns]
    told = f"Whether the policy is worth both prices turns with {'; '.join(turning)}." if turning else ""
    if unknown := sum(row.turns is None for row in rows):
        which = f"With {unknown} of {len(rows)} other prices and inputs"
        return f"{told} {which} the loads cannot tell whether it changes.".lstrip()
    return told or "No other price or input that was tried turns the answer."


def ledger_figure(rows: Sequence[LedgerRow], name: str) -> Iterator[Figure]:
    known = [row for row in rows if is_known(row.per_load_pp)]
    if len(known) < 2:
        return
    shown: list[Row] = [{"title": row.title, "difference": interval(row.per_load_pp)} for row in known]
    yield Figure(
        id="fig-ledger",
        title=f"What other prices and inputs change for {name}",
        caption="Net benefit per load by another price or input, less the rule\u2019s on the same draws; "
        "95 % intervals.",
        drawing="dots",
        x="difference",
        y="title",
        columns=(
            Column(id="title", title="with", kind="text"),
            Column(id="difference", title="difference of net benefit", unit="pp", kind="interval"),
        ),
        rows=tuple(shown),
        lines=(ReferenceLine(value=0.0, label=""),),
        domain=share_axis([row["difference"] for row in shown], [0.0]),
    )


def ledger_table(rows: Sequence[LedgerRow]) -> Table:
    return Table(
        id="ledger",
        is_folded=True,
        title="Net benefit by other prices and inputs, less the rule\u2019s on the same draws",
        columns=(
            Column(id="title", title="with", kind="text"),
            Column(id="per_load", title="difference per load", unit="pp", kind="interval"),
            Column(id="in_sum", title="difference in sum", unit="pp", kind="interval"),
            Column(id="turns", title="turns the answer", kind="text"),
        ),
        rows=tuple(
            {
                "title": row.title,
                "per_load": interval(row.per_load_pp),
                "in_sum": interval(row.in_sum_pp),
                "turns": TURNS[row.turns],
            }
            for row in rows
        ),
        notes=(f"A row turns the answer where its whole interval does in both units. {BY_ITSELF}",),
    )


def share_axis(effects: Iterable[Row | None], lines: Sequence[float]) -> tuple[float, float]:
    """Return ends of an axis of all estimates, and of intervals up to half as much again."""
    known = [effect for effect in effects if effect is not None]
    values = [*(effect["estimate"] for effect in known), *lines]
    reach = 0.5 * (max(values) - min(values))
    ends = [end for effect in known for end in (effect["lower"], effect["upper"])]
    low = max(min([*values, *ends]), min(values) - reach)
    high = min(max([*values, *ends]), max(values) + reach)
    room = 0.04 * (high - low) or 1.0
    return round(low - room, 3), round(high + room, 3)


def describe_plane(verdict: Verdict | None) -> str:
    asked = asked_candidate(verdict)
    if asked is None:
        return "No larger first flight was loaded."
    name = policy_name(asked.policy)
    (gain, gain_in_sum), (cost, cost_in_sum) = (
        [beside(asked, quantity_id) for quantity_id in names] for names in (GAINS, COSTS)
    )
    if gain is None or not gain.excludes_zero:
        return f"The loads do not tell what {name} does to page time."
    return (
        f"{name} saves {_told_text(gain, '%')} of page time for {_told_text(cost, 'pp')} sent again per "
        f"load, and in sum {_told_text(gain_in_sum, '%')} for {_told_text(cost_in_sum, 'pp')}."
    )


def _told_text(value: Interval | None, unit: str) -> str:
    if value is None or not value.excludes_zero:
        return "an amount that is not known"
    return quantity(value.estimate, unit)


def plane_figure(verdict: Verdict, *, source: str) -> Figure:
    return Figure(
        id="fig-plane",
        title=describe_plane(verdict),
        caption="Page time saved and payload sent again by each policy against "
        f"{verdict.rule.incumbent.window} segments at once, per load and in sum, with 95 % intervals; in the "
        "shaded region a first flight costs less than ten segments did in 2010.",
        drawing="plane",
        x="gain",
        y="resent",
        columns=(
            POLICY,
            Column(id="gain", title="page time saved, per load", unit="%", kind="interval"),
            Column(id="resent", title="sent again, per load", unit="pp", kind="interval"),
            Column(id="gain_in_sum", title="page time saved, in sum", unit="%", kind="interval"),
            Column(id="resent_in_sum", title="sent again, in sum", unit="pp", kind="interval"),
        ),
        rows=tuple(
            {name: row[name] for name in ("policy", "gain", "resent", "gain_in_sum", "resent_in_sum")}
            for row in policy_rows(verdict)
        ),
        source=source,
    )
