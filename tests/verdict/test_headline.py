"""The answer in sentences by rule 7: one for each outcome says what a server should do, and why."""

import pytest

from releases.interval import Interval
from replay.runs.policy import Policy
from tests.verdict.made_up import FAR, PACED, TEN
from verdict.headline import certainty, confirmation, describe_nearest, differs, headline, is_told
from verdict.judgement import Again, GuardCheck, Judgement, Kind, ListAnswer, Reason, Standing, recommend
from verdict.ledger import GroupAnswer
from verdict.rule import RULE

WIDE, LARGE = Policy(30), Policy(32, "spread", 100)
NOTHING = Interval(0.0, 0.0, 0.0)
OTHERS, SLOW = RULE.guards
KEPT = tuple(
    GuardCheck(guard=guard, window=policy, longer=Interval(0.2, 0.1, 0.3))
    for guard in RULE.guards
    for policy in (PACED, FAR)
)


def judge_as(policy: Policy, standing: Standing, *, lower: float = 0.05, saved: float = 4.6) -> Judgement:
    return Judgement(
        policy=policy,
        standing=standing,
        per_load_pp=Interval(lower + 0.05, lower, lower + 0.1),
        in_sum_pp=Interval(0.01, -0.05, 0.07),
        touched_percent=Interval(saved, saved - 1, saved + 1),
        pairs=12_345,
    )


def answer(
    kind: Kind,
    standings: dict[Policy, Standing],
    *,
    guards: tuple[GuardCheck, ...] = KEPT,
    broken: tuple[str, ...] = (),
    saved: float = 4.6,
    lower: float = 0.05,
) -> ListAnswer:
    worth = [policy for policy, standing in standings.items() if standing == "worth it"]
    return ListAnswer(
        kind=kind,
        policy=worth[0] if kind == "raise" else TEN,
        is_settled=kind != "open",
        judgements=tuple(
            judge_as(policy, standing, saved=saved, lower=lower) for policy, standing in standings.items()
        ),
        guards=guards,
        again=Again(gain_percent=NOTHING, resent_pp=NOTHING),
        confidence=None if broken else "high",
        reasons=(),
        broken=broken,
    )


def state(own: ListAnswer, others: dict[str, ListAnswer] | None = None, *, mark: str = "") -> str:
    titles = {name: f"November {name}" for name in others or {}}
    recommended = recommend(own, others or {}, RULE)
    return headline(own, recommended, RULE, own="August 2025", others=titles, mark=mark).replace(
        "\u202f", " "
    )


def test_what_every_list_confirms_is_said_to_be_set_with_every_list() -> None:
    own, other = (answer("raise", {FAR: "worth it"}) for _ in range(2))
    assert state(own, {"2023": other, "2024": other}) == (
        "Set the initial window to 16 segments, paced, where the handshake takes more than 100 ms, and keep "
        "10 elsewhere: the pages that it changes load in 4.6 % less time on the pages of August 2025, "
        "November 2023 and November 2024, for less than 2010 paid."
    )


def test_what_is_for_all_connections_changes_all_pages() -> None:
    assert state(answer("raise", {PACED: "worth it"})) == (
        "Set the initial window to 16 segments, paced: pages load in 4.6 % less time, for less than 2010 "
        "paid."
    )


def test_what_a_list_does_not_confirm_names_the_list_and_is_not_recommended() -> None:
    own = answer("raise", {FAR: "worth it", WIDE: "open"})
    denying, confirming = (answer("stays", {FAR: "open"}, lower=lower) for lower in (-0.2, 0.0))
    assert state(own, {"2023": confirming, "2024": denying}) == (
        "Keep the initial window at 10 segments: 16 segments, paced, where the handshake takes more than 100 "
        "ms, are worth their price on the pages of August 2025, and the pages of November 2024 do not "
        "confirm it."
    )


def test_a_list_that_never_loaded_a_policy_does_not_confirm_it() -> None:
    own = answer("raise", {FAR: "worth it"})
    assert "the pages of November 2023 do not confirm it" in state(
        own, {"2023": answer("stays", {WIDE: "open"})}
    )


@pytest.mark.parametrize(
    ("kind", "standing", "longer", "spared"),
    [
        ("stays", "not recommended", Interval(4.0, 3.5, 4.5), "others' short flows"),
        ("open", "worth it", Interval(2.9, 2.5, 3.3), "others' short flows"),
        ("open", "worth it", None, "others' short flows"),
    ],
)
def test_what_is_not_shown_to_keep_a_guard_says_whom_it_would_harm(
    kind: Kind, standing: Standing, longer: Interval | None, spared: str
) -> None:
    kept = GuardCheck(guard=SLOW, window=FAR, longer=Interval(0.2, 0.1, 0.3))
    guards = (GuardCheck(guard=OTHERS, window=FAR, longer=longer), kept)
    assert state(answer(kind, {FAR: standing, PACED: "not worth it"}, guards=guards)) == (
        "Keep the initial window at 10 segments: 16 segments, paced, where the handshake takes more than 100 "
        f"ms, would be worth their price, but are not shown to spare {spared}."
    )


@pytest.mark.parametrize(
    ("opened", "what"),
    [
        ([FAR, LARGE], "16 to 32 segments, where the handshake takes more than 100 ms,"),
        ([PACED, WIDE, FAR, LARGE], "16 to 32 segments"),
        ([PACED], "16 segments, paced, for all connections"),
    ],
)
def test_what_is_open_is_said_in_few_words(opened: list[Policy], what: str) -> None:
    standings: dict[Policy, Standing] = dict.fromkeys(opened, "open")
    assert state(answer("open", standings | {Policy(20): "not worth it"}, guards=())) == (
        f"Keep the initial window at 10 segments: whether {what} are worth their price is open."
    )


def test_what_is_at_the_price_and_what_is_worth_nothing_is_said() -> None:
    assert state(answer("stays", {PACED: "at the price", FAR: "not worth it"}, guards=())) == (
        "Keep the initial window at 10 segments: 16 segments, paced, for all connections save about what "
        "they cost by the price of 2010."
    )
    assert state(answer("stays", {PACED: "not worth it", FAR: "not worth it"}, guards=())) == (
        "Keep the initial window at 10 segments: no larger first flight saves enough time for what it sends "
        "again."
    )


def test_too_few_loads_tell_nothing() -> None:
    few = answer("open", {PACED: "open", FAR: "open"}, guards=(), saved=0.5)
    assert not is_told(few, RULE)
    assert state(few) == (
        "Keep the initial window at 10 segments: too few loads tell what a larger first flight saves."
    )
    assert is_told(answer("open", {PACED: "open"}, guards=()), RULE)


def test_a_broken_chain_says_what_is_broken_and_illustrative_inputs_are_marked() -> None:
    broken = answer("no answer", {PACED: "worth it"}, broken=("The back-cast is damaged.",))
    assert state(broken) == "No answer: The back-cast is damaged."
    marked = state(answer("raise", {PACED: "worth it"}), mark="By the bundled pages, illustrative")
    assert marked.startswith(
        "By the bundled pages, illustrative: Set the initial window to 16 segments, paced:"
    )


def test_a_confirming_list_says_what_it_confirms() -> None:
    rule = RULE.over(PACED, FAR)
    own = answer("open", {PACED: "open", FAR: "worth it"})
    assert confirmation(own, [FAR], rule, own="November 2023") == (
        "By the pages of November 2023, 16 segments, paced, where the handshake takes more than 100 ms, are "
        "confirmed, and 16 segments, paced, for all connections are not confirmed."
    )


def group(number: int, above_ms: float, up_to_ms: float, answer: ListAnswer) -> GroupAnswer:
    return GroupAnswer(
        id=f"group-{number}",
        title="",
        above_ms=above_ms,
        up_to_ms=up_to_ms,
        share=0.25,
        evidence=None,  # type: ignore[arg-type]  # no sentence reads it
        answer=answer,
    )


def test_for_whom_the_answer_differs_is_said_by_round_trip_with_like_groups_as_one() -> None:
    stays = answer("stays", {PACED: "not worth it"})
    raised = answer("raise", {PACED: "worth it"})
    groups = [
        group(1, 0, 60, stays),
        group(2, 60, 100, stays),
        group(3, 100, 150, answer("open", {PACED: "open"})),
        group(4, 150, float("inf"), raised),
    ]
    assert differs(groups, recommend(stays, {}, RULE), RULE).replace("\u202f", " ") == (
        "By a page's longest handshake: up to 100 ms, 10 segments stay; from 100 to 150 ms, it is open "
        "whether more are worth their price; beyond 150 ms, 16 segments, paced, are worth their price."
    )


def test_an_answer_that_holds_at_every_round_trip_says_so() -> None:
    stays = answer("stays", {PACED: "not worth it"})
    groups = [group(1, 0, 60, stays), group(2, 60, float("inf"), stays)]
    alike = "Near and distant clients have the same answer."
    assert differs(groups, recommend(stays, {}, RULE), RULE) == alike
    assert differs([], recommend(stays, {}, RULE), RULE) == ""


def test_how_sure_it_is_names_what_makes_it_least_so() -> None:
    reasons = [
        Reason(level="medium", sentence="Some policies stay open."),
        Reason(level="low", sentence="The lines are of 2020."),
    ]
    assert certainty("low", reasons, pairs=12_345) == "This is not sure: the lines are of 2020."
    assert (
        certainty("high", [], pairs=12_345).replace("\u202f", " ")
        == "This is sure, by 12 345 pairs of loads."
    )


def test_what_comes_nearest_is_named_where_it_is_worth_its_price_per_load_alone() -> None:
    opened = answer("open", {FAR: "open"})
    assert describe_nearest(opened, FAR, RULE) == (
        "Closest come 16 segments, paced, where the handshake takes more than 100 ms: worth their price on "
        "average over loads, but not shown to be so in total."
    )
    one, other = ["November 2023"], ["November 2024"]
    both = describe_nearest(opened, FAR, RULE, agreeing=one + other)
    assert both.endswith(" The pages of November 2023 and November 2024 confirm them.")
    mixed = describe_nearest(opened, FAR, RULE, agreeing=one, disagreeing=other)
    assert mixed.endswith(" The pages of November 2023 confirm them, and the pages of November 2024 do not.")
    none = describe_nearest(opened, FAR, RULE, disagreeing=other)
    assert none.endswith(" The pages of November 2024 do not confirm them.")
    assert describe_nearest(answer("open", {FAR: "open"}, lower=-0.05), FAR, RULE) == ""
    assert describe_nearest(answer("open", {FAR: "open"}, saved=1.5), FAR, RULE) == ""
    assert describe_nearest(answer("stays", {FAR: "not worth it"}), FAR, RULE) == ""
    assert describe_nearest(answer("open", {FAR: "open"}), None, RULE) == ""
