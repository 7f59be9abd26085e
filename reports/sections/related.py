"""How the answer stands beside standards, drafts, papers and what production is known to do."""

from reports.references import cited
from reports.sections.shape import Column, Paragraph, Section, Table

LEAD = (
    "BCP 133 [RFC9743] names what a proposal for congestion control is evaluated by; it is no list of "
    "requirements. A larger first flight changes less than an algorithm does. A table of the report "
    "says what the loads of a yearly answer have of each; an arm, if the table of other inputs has it."
)

CHECKLIST = (
    (
        "5.1.1 Congestion collapse",
        "Nothing after the first flight changes: recovery and back-off are Linux's.",
    ),
    (
        "5.1.2 Bufferbloat",
        "Others' short flows on a half-loaded line. The queue's own delay is not reported.",
    ),
    (
        "5.1.3 High packet loss",
        "Payload dropped, sent again, and sent again in vain; it decides, at 2010's price.",
    ),
    (
        "5.1.4 Fairness within",
        "Everyone follows the policy on a half-loaded line. Long flows are not compared.",
    ),
    (
        "5.1.5, 5.2.3 Short and long flows",
        "Others' short flows, as a guard. Long flows are background alone.",
    ),
    (
        "5.2.1 Existing controls",
        "CUBIC at once, CUBIC paced and BBR by published shares; BBR alone as an arm.",
    ),
    (
        "5.2.2 Real-time flows",
        "Not measured.",
    ),
    (
        "5.3.1 Principles",
        "More segments at first than RFC 6928 permits; no other deviation.",
    ),
    (
        "5.3.2 Deployment",
        "The server alone changes; docs/apply.md has the commands, held to captures.",
    ),
    (
        "6.1 Tail drop",
        "Every line by default, five depths for each class of rate; other depths as arms.",
    ),
    (
        "6.2, 7.2, 7.10 Tunnels, circuit breakers, multipath",
        "Not measured.",
    ),
    (
        "6.3, 6.4 Wired and wireless",
        "Lines of both, not told apart. A line's rate is constant; losses are random.",
    ),
    (
        "7.1 Queue management",
        "FQ-CoDel on a quarter of the lines, as an arm. No ECN, PIE or L4S.",
    ),
    (
        "7.3, 7.8, 7.9 Varying delay, transients",
        "Not measured: a path's delay varies by queues alone.",
    ),
    (
        "7.4, 7.11 Things, data centres",
        "Not asked: these are pages over access lines.",
    ),
    (
        "7.5 High delay",
        "Policies beyond a round trip; an answer by round trip. Satellites are not told apart.",
    ),
    (
        "7.6, 7.7 Misbehaviour, reordering",
        "Not measured. A client that delays its handshake gets what far clients get.",
    ),
)
"""Criteria of RFC 9743 by section, and what the loads have of each."""

PARAGRAPHS = (
    Paragraph(
        id="rfc6928",
        title="RFC 6928\u2019s experiment",
        text="[RFC6928] permits ten segments as an experiment: whoever raises the window should watch losses "
        "and retransmissions before and after, and go back where performance gets worse. It rests on "
        "live users of 2010 [IW10-2010], for whom the step from 3 to 10 saved time and sent more again. "
        "What that step cost is the price here; the question is what it buys today. This is a replay: "
        "it can rule out what costs more than then, and whoever applies its answer still has to watch. "
        "A window that follows the network over long timescales was proposed [AUTOMATIC-IW], in work "
        "that became [RFC9040].",
    ),
    Paragraph(
        id="rapid-start",
        title="Rapid Start, pacing and slow start",
        text="Rapid Start [RAPID-START] paces the first full flight over a whole round trip, which allows up "
        "to twice the window; it then grows threefold until a queue builds, and recovers in a way of "
        "its own. Spread is the first of these alone; 20 spread is twice ten. Paced is what Linux does "
        "[PACING]: ten segments at once whatever the window, the others at twice the window a round "
        "trip. QUIC\u2019s example is 1.25 times [RFC9002]. To spread an initial window is an older "
        "idea [SPREADING]. Others change what follows: SUSS grows faster, and reports that flows below "
        "5 MB end more than 20 % sooner beyond 50 ms [SUSS]; HyStart++ leaves slow start before the "
        "queue overflows [RFC9406]; Halfback starts and recovers short flows otherwise [HALFBACK]. None "
        "of these is measured here.",
    ),
    Paragraph(
        id="careful-resume",
        title="Careful Resume and remembered windows",
        text="Careful Resume [RFC9959] uses again, with caution, what an earlier connection between the same "
        "endpoints learned of its path; [RFC9040] shares such state between connections. TCP-RL chooses "
        "windows by what a service\u2019s servers observe of groups of clients, and reports that short "
        "flows take about 23 % less time [TCP-RL]. What is remembered tells more than the one round "
        "trip that a policy here asks for. The replay remembers nothing between connections: its answer "
        "is for those of which nothing else is known, as at a first visit.",
    ),
    Paragraph(
        id="production",
        title="What production does",
        text="Ten is Linux\u2019s default, and not what all servers send. Of fifteen content networks six "
        "had ten in 2017, and the others 14 to 46 [CDN-2017]; in 2018 most were below 50, with "
        "exceptions up to 100, and some differed by customer and content [CDN-2018], [IW-2019]. "
        "Google\u2019s QUIC begins with 32 packets [GOOGLE-QUIC]; that 32 paced lost less than ten at "
        "once was said when QUIC\u2019s bursts were discussed [BURSTS-2019]. Cloudflare\u2019s quiche "
        "lets the application choose [QUICHE-2023]. The replay gives every server ten segments, and "
        "then the policy, whatever its own window was when its page was recorded.",
    ),
)
"""What a reader of standards expects to see named."""


def related_section() -> Section:
    return Section(
        id="related",
        title="Beside standards, drafts and production",
        lead=LEAD,
        tables=(
            Table(
                id="checklist",
                title="The criteria of RFC 9743, and what the loads have of each",
                columns=(
                    Column(id="criterion", title="criterion", kind="text"),
                    Column(id="measured", title="what the loads have", kind="text"),
                ),
                rows=tuple(
                    {"criterion": criterion, "measured": measured} for criterion, measured in CHECKLIST
                ),
                is_published=True,
            ),
        ),
        paragraphs=PARAGRAPHS,
        references=cited(LEAD, *(paragraph.text for paragraph in PARAGRAPHS)),
    )
