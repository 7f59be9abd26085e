"""How the rule decides: whether the replay is adequate, the other estimands,
and what would change the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from releases.formatting import stated
from reports.sections.shape import Column, Section, Table


def judging_section(content: Mapping[str, Any], *, query: str) -> Section:
    """The section from the content's recommendation, rule and sensitivity."""
    rule, found = content["rule"], content["recommendation"]
    return Section(
        id="decision",
        title="How the rule decides",
        lead='A window is "worthwhile" when the lower bound of its gain is at least '
        f'{stated(rule["worthwhile_percent"], "%")}, and "admissible" when every bound on harm that decides '
        "is shown to hold. The rule takes "
        "the smallest window that is both and over which no larger one gains as much again. "
        "An A/A comparison holds the "
        "window in force against itself with other random events: "
        "a replay that tells it from itself is not believed.",
        tables=tuple(
            table
            for table in (
                adequacy_table(found.get("checks"), query),
                beside_table(found.get("candidates"), rule, found["incumbent_iw"], query),
                unmeasured_table(rule["unmeasured"]),
                variants_table(content["sensitivity"], query),
            )
            if table
        ),
    )


def adequacy_table(checks: Sequence[Mapping[str, Any]] | None, query: str) -> Table | None:
    """The checks of the whole replay; None for a replay in stages, which ends when its own are met."""
    if not checks:
        return None
    return Table(
        id="adequacy",
        title="Is the replay adequate?",
        columns=(
            Column(id="title", title="check", kind="text"),
            Column(id="verdict", title="verdict", kind="text"),
            Column(id="sentence", title="measured, and asked for", kind="text"),
        ),
        rows=tuple(
            {
                "title": one["title"],
                "sentence": one["sentence"],
                "verdict": "passed" if one["passed"] else "failed",
            }
            for one in checks
        ),
        source="the replay's cells",
        query=query,
    )


def beside_table(
    candidates: Sequence[Mapping[str, Any]] | None, rule: Mapping[str, Any], incumbent: int, query: str
) -> Table | None:
    """Gains in the estimands that do not decide; None for a replay in stages."""
    if not candidates:
        return None
    named = {one["id"]: one["title"].partition(":")[0] for one in rule["estimands"] if not one["is_primary"]}
    measured = [name for name in named if any(one["beside_percent"].get(name) for one in candidates)]
    return Table(
        id="beside",
        title=f"Gains over IW {incumbent} in other quantities, which decide nothing",
        columns=(
            Column(id="window", title="candidate", kind="text"),
            Column(id="gain", title="page time", unit="%", kind="interval"),
            *(Column(id=name, title=named[name], unit="%", kind="interval") for name in measured),
            Column(id="typical", title="typical page (Hodges-Lehmann)", unit="%"),
            Column(
                id="in_use",
                title=f"page time against IW {rule['windows_in_use']}, in use",
                unit="%",
                kind="interval",
            ),
        ),
        rows=tuple(
            {
                "window": f"IW {one['candidate']['window']}",
                "gain": one["gain_percent"],
                **{name: one["beside_percent"].get(name) for name in measured},
                "typical": one["typical_percent"],
                "in_use": one["in_use_percent"],
            }
            for one in candidates
            if one["candidate"]["window"] != incumbent
        ),
        source="the replay's cells",
        query=query,
    )


def unmeasured_table(unmeasured: Sequence[Mapping[str, Any]]) -> Table:
    """Harms that no cell measures."""
    return Table(
        id="unmeasured",
        title="Harms that were not measured, so that no window has passed them",
        columns=tuple(
            Column(id=name, title=title, kind="text")
            for name, title in (
                ("title", "harm"),
                ("bound", "bound"),
                ("needs", "needs"),
                ("source", "source"),
            )
        ),
        rows=tuple({name: one[name] for name in ("title", "bound", "needs", "source")} for one in unmeasured),
        source="the rule",
        query="reports/recommendation/rule.py",
    )


def variants_table(variants: Sequence[Mapping[str, Any]] | None, query: str) -> Table | None:
    """The answer with one choice of the rule changed; None for a replay in stages."""
    if not variants:
        return None
    return Table(
        id="variants",
        title="The rule with one choice changed",
        columns=(
            Column(id="title", title="if", kind="text"),
            Column(id="answer", title="the rule would say", kind="text"),
        ),
        rows=tuple({"title": one["title"], "answer": one["answer"]} for one in variants),
        source="the replay's cells",
        query=query,
    )
