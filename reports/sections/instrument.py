"""How far the instrument can be believed: 2010's experiment, loads by Chromium, and other results."""

from collections.abc import Iterator
from dataclasses import dataclass

from releases.formatting import capital
from reports.sections.shape import Column, Figure, ReferenceLine, Row, Section, Table
from verdict.calibration import CENTERS, FACTOR, BackCast, BackCastFinding
from verdict.rule import UNITS

AGAIN = "firstflight replay backcast"
PUBLISHED_2010 = "Dukkipati et al. 2010, Tables 3 and 7"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentCheck:
    """A result of the instrument held against something else."""

    # Stable: named in reports.
    id: str
    what: str
    result: str
    source: str


CHECKS = (
    InstrumentCheck(
        id="chromium",
        what="page loads by Chromium over a real path: 60 pages, 3 networks, windows of 3, 10 and 30",
        result="median error of page time 3 to 6 %; mean gains within 3 percentage points in 36 of 36 "
        "comparisons",
        source="studies/page_loads",
    ),
    InstrumentCheck(
        id="rfc6928",
        what="round trips to send a number of segments, RFC 6928",
        result="reproduced",
        source="docs/reproduction.md",
    ),
    InstrumentCheck(
        id="cs244-2017",
        what="response times of a rerun of the 2010 paper",
        result="reproduced",
        source="docs/reproduction.md",
    ),
    InstrumentCheck(
        id="baidu-2018", what="uploads at IW 10 and 30", result="reproduced", source="docs/reproduction.md"
    ),
    InstrumentCheck(
        id="fld-2012",
        what="bursts beside long flows, FLD_TCP",
        result="reproduced",
        source="docs/reproduction.md",
    ),
    InstrumentCheck(
        id="linkedin-2016",
        what="download times by congestion control over long round trips",
        result="7 of 9 checks reproduced",
        source="docs/reproduction.md",
    ),
    InstrumentCheck(
        id="ietf77",
        what="quantiles of latency and retransmissions shown at IETF 77",
        result="9 of 14 checks reproduced",
        source="docs/reproduction.md",
    ),
)
"""Beside the back-cast, held against their sources by a test."""


def instrument_section(finding: BackCastFinding) -> Section:
    content = finding.content
    opening = (
        "The same replay and rule were asked about the experiment of 2010 that made IW 10 the standard; "
        "what they miss lowers the confidence in today\u2019s answer. "
        if content
        else ""
    )
    return Section(
        id="instrument",
        title="How far the instrument can be believed",
        lead=f"{opening}The replay was also held against page loads by Chromium and against other published "
        "results.",
        figures=tuple(backcast_figure(content)) if content else (),
        tables=(*(choices_tables(content) if content else ()), checks_table()),
    )


def backcast_figure(content: BackCast) -> Iterator[Figure]:
    rows = [{**row, "what": short(row["what"])} for row in figure_rows(content) if row["factor"] is not None]
    if not rows:
        return
    met = sum(1 / FACTOR <= row["factor"] <= FACTOR for row in rows)
    yield Figure(
        id="fig-backcast",
        title=f"{met} of {len(rows)} quantities of 2010 come out within a factor of two",
        caption="Our replay of 2010\u2019s experiment over what its authors published: gains of search, "
        "its mean and percentiles; segments sent again more at IW 10, those that queues dropped of them, and "
        "responses with any, by service. "
        "Logarithmic axis.",
        drawing="dots",
        x="factor",
        y="what",
        series="center",
        columns=(
            Column(id="what", title="what", kind="text"),
            Column(id="center", title="data centre", kind="text"),
            Column(id="factor", title="ours over published"),
        ),
        rows=tuple({name: row[name] for name in ("what", "center", "factor")} for row in rows),
        source=f"{PUBLISHED_2010}; firstflight",
        is_published=True,
        query=AGAIN,
        lines=(
            ReferenceLine(value=1 / FACTOR, label="half"),
            ReferenceLine(value=1.0, label="equal"),
            ReferenceLine(value=FACTOR, label="twice"),
        ),
        is_logarithmic=True,
    )


SHORT = {
    "mean gain of search": "gain, mean",
    "gain of search at ": "gain, ",
    ": more segments sent again at IW 10": ", segments",
    ": more segments dropped by queues at IW 10": ", dropped",
    ": more responses with any at IW 10": ", responses",
}
"""Names of quantities in the figure, by what the back-cast calls them."""


def short(what: str) -> str:
    """Return a quantity's name in the figure.

    >>> short("gain of search at p50"), short("maps: more responses with any at IW 10")
    ('gain, p50', 'Maps, responses')
    """
    for long, name in SHORT.items():
        what = what.replace(long, name)
    return what if what.startswith("gain") else capital(what)


def figure_rows(content: BackCast) -> list[Row]:
    rows = [
        {
            "what": figure["what"].partition(figure["center"])[2].lstrip(":, "),
            "center": f"{CENTERS[figure['center']]} data centre",
            **{name: figure[name] for name in ("unit", "published", "ours", "factor")},
        }
        for figure in content["figures"]
        if figure["half"] == "judgement"
    ]
    order = list(dict.fromkeys(row["what"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["what"]))


ESTIMATES = (
    ("gain_percent", "page time saved", "%"),
    ("resent_pp", "payload sent again", "pp"),
    ("net_benefit_pp", "net benefit", "pp"),
)


def choices_tables(content: BackCast) -> Iterator[Table]:
    yield Table(
        id="backcast-choices",
        title="What the rule finds over the networks of 2010, with IW 3 in force",
        columns=(
            Column(id="center", title="data centre", kind="text"),
            Column(id="window", title="initial window", kind="text"),
            *(
                Column(id=f"{key} {unit}", title=f"{title} {unit}", unit=sign)
                for unit in UNITS
                for key, title, sign in ESTIMATES
            ),
            Column(id="verdict", title="verdict", kind="text"),
        ),
        rows=tuple(
            {
                "center": CENTERS[center],
                "window": f"IW {candidate['window']}",
                "verdict": candidate["verdict"]
                + (", chosen" if candidate["window"] == chosen["window"] else ""),
                **{f"{key} {unit}": candidate[unit][key] for unit in UNITS for key, _, _ in ESTIMATES},
            }
            for center, chosen in content["choices"].items()
            for candidate in chosen["candidates"]
        ),
        source="the back-cast",
        query=AGAIN,
        is_published=True,
    )
    yield Table(
        id="backcast-figures",
        title="Published figures of 2010 and ours",
        columns=(
            Column(id="what", title="what", kind="text"),
            Column(id="center", title="data centre", kind="text"),
            Column(id="unit", title="unit", kind="text"),
            Column(id="published", title="published", kind="stated"),
            Column(id="ours", title="ours"),
            Column(id="factor", title="factor"),
        ),
        rows=tuple(figure_rows(content)),
        source=PUBLISHED_2010,
        query=AGAIN,
        is_published=True,
    )


def checks_table() -> Table:
    return Table(
        id="checks",
        title="The instrument beside Chromium and other published results",
        columns=(
            Column(id="what", title="held against", kind="text"),
            Column(id="result", title="result", kind="text"),
        ),
        rows=tuple({"what": check.what, "result": check.result} for check in CHECKS),
        source=", ".join(dict.fromkeys(check.source for check in CHECKS)),
        query="firstflight replay reproduce",
        is_published=True,
    )
