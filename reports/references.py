"""What reports cite: every entry, complete, and how a text names it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CITATION = re.compile(r"\[([A-Z][A-Z0-9-]+)\]")
"""A citation in a text, such as [RFC6928]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An entry of a list of references, complete, so that nothing is fetched."""

    anchor: str
    title: str
    authors: tuple[tuple[str, str], ...]
    """Initials and surnames; a body has no initials."""
    date: Mapping[str, str]
    """Year, and month if known."""
    target: str = ""
    series: tuple[tuple[str, str], ...] = ()
    content: str = ""


def rfc(number: int, title: str, *authors: tuple[str, str], month: str, year: int) -> Reference:
    return Reference(
        anchor=f"RFC{number}",
        title=title,
        authors=authors,
        date={"month": month, "year": str(year)},
        target=f"https://www.rfc-editor.org/info/rfc{number}",
        series=(("RFC", str(number)), ("DOI", f"10.17487/RFC{number}")),
    )


def internet_draft(
    anchor: str, name: str, title: str, *authors: tuple[str, str], month: str, year: int
) -> Reference:
    return Reference(
        anchor=anchor,
        title=title,
        authors=authors,
        date={"month": month, "year": str(year)},
        target=f"https://datatracker.ietf.org/doc/html/{name}",
        series=(("Internet-Draft", name),),
    )


def paper(
    anchor: str, title: str, *authors: tuple[str, str], month: str, year: int, doi: str, content: str
) -> Reference:
    return Reference(
        anchor=anchor,
        title=title,
        authors=authors,
        date={"month": month, "year": str(year)},
        target=f"https://doi.org/{doi}",
        series=(("DOI", doi),),
        content=content,
    )


def page(anchor: str, title: str, author: str, *, date: Mapping[str, str], target: str) -> Reference:
    return Reference(anchor=anchor, title=title, authors=(("", author),), date=date, target=target)


REFERENCES = (
    rfc(
        6928,
        "Increasing TCP's Initial Window",
        ("J.", "Chu"), ("N.", "Dukkipati"), ("Y.", "Cheng"), ("M.", "Mathis"),
        month="April", year=2013,
    ),
    rfc(
        9002,
        "QUIC Loss Detection and Congestion Control",
        ("J.", "Iyengar"), ("I.", "Swett"),
        month="May", year=2021,
    ),
    rfc(
        9040,
        "TCP Control Block Interdependence",
        ("J.", "Touch"), ("M.", "Welzl"), ("S.", "Islam"),
        month="July", year=2021,
    ),
    rfc(
        9406,
        "HyStart++: Modified Slow Start for TCP",
        ("P.", "Balasubramanian"), ("Y.", "Huang"), ("M.", "Olson"),
        month="May", year=2023,
    ),
    rfc(
        9743,
        "Specifying New Congestion Control Algorithms",
        ("M.", "Duke"), ("G.", "Fairhurst"),
        month="March", year=2025,
    ),
    rfc(
        9959,
        "Careful Resume: Convergence of Congestion Control from Retained State",
        ("N.", "Kuhn"), ("E.", "Stephan"), ("G.", "Fairhurst"), ("R.", "Secchi"), ("C.", "Huitema"),
        month="May", year=2026,
    ),
    internet_draft(
        "RAPID-START",
        "draft-kazuho-ccwg-rapid-start-02",
        "Rapid Startup of Congestion Control",
        ("K.", "Oku"),
        month="March", year=2026,
    ),
    internet_draft(
        "PACING",
        "draft-irtf-iccrg-pacing-02",
        "Pacing in Transport Protocols",
        ("M.", "Welzl"), ("W.", "Eddy"), ("V.", "Goel"), ("M.", "Tüxen"),
        month="June", year=2026,
    ),
    internet_draft(
        "SPREADING",
        "draft-irtf-iccrg-sallantin-initial-spreading",
        "Safe increase of the TCP's Initial Window Using Initial Spreading",
        ("R.", "Sallantin"), ("C.", "Baudoin"), ("F.", "Arnal"), ("E.", "Dubois"), ("E.", "Chaput"), ("A.", "Beylot"),  # noqa: E501
        month="January", year=2014,
    ),
    internet_draft(
        "AUTOMATIC-IW",
        "draft-touch-tcpm-automatic-iw-03",
        "Automating the Initial Window in TCP",
        ("J.", "Touch"),
        month="July", year=2012,
    ),
    paper(
        "IW10-2010",
        "An Argument for Increasing TCP's Initial Congestion Window",
        ("N.", "Dukkipati"), ("T.", "Refice"), ("Y.", "Cheng"), ("J.", "Chu"), ("T.", "Herbert"), ("A.", "Agarwal"), ("A.", "Jain"), ("N.", "Sutin"),  # noqa: E501
        month="July", year=2010, doi="10.1145/1823844.1823848",
        content="ACM SIGCOMM Computer Communication Review, vol. 40, no. 3",
    ),
    paper(
        "HALFBACK",
        "Halfback: Running Short Flows Quickly and Safely",
        ("Q.", "Li"), ("M.", "Dong"), ("P. B.", "Godfrey"),
        month="December", year=2015, doi="10.1145/2716281.2836107", content="CoNEXT 2015",
    ),
    paper(
        "IW-2019",
        "TCP's Initial Window: Deployment in the Wild and Its Impact on Performance",
        ("J.", "Rüth"), ("I.", "Kunze"), ("O.", "Hohlfeld"),
        month="January", year=2019, doi="10.1109/TNSM.2019.2896335",
        content="IEEE Transactions on Network and Service Management",
    ),
    paper(
        "TCP-RL",
        "Dynamic TCP Initial Windows and Congestion Control Schemes Through Reinforcement Learning",
        ("X.", "Nie"), ("Y.", "Zhao"), ("Z.", "Li"), ("G.", "Chen"), ("K.", "Sui"), ("J.", "Zhang"), ("Z.", "Ye"), ("D.", "Pei"),  # noqa: E501
        month="June", year=2019, doi="10.1109/JSAC.2019.2904350",
        content="IEEE Journal on Selected Areas in Communications, vol. 37, no. 6",
    ),
    paper(
        "SUSS",
        "SUSS: Improving TCP Performance by Speeding Up Slow-Start",
        ("M.", "Arghavani"), ("H.", "Zhang"), ("D.", "Eyers"), ("A.", "Arghavani"),
        month="August", year=2024, doi="10.1145/3651890.3672234", content="ACM SIGCOMM 2024",
    ),
    Reference(
        anchor="CDN-2018",
        title="Demystifying TCP Initial Window Configurations of Content Distribution Networks",
        authors=(("J.", "Rüth"), ("O.", "Hohlfeld")),
        date={"year": "2018"},
        target="https://arxiv.org/abs/1902.08937",
        content="Network Traffic Measurement and Analysis Conference",
    ),
    page(
        "CDN-2017",
        "Initcwnd settings of major CDN providers",
        "CDN Planet",
        date={"month": "February", "year": "2017"},
        target="https://www.cdnplanet.com/blog/initcwnd-settings-major-cdn-providers/",
    ),
    page(
        "GOOGLE-QUIC",
        "QUICHE: quiche/quic/core/quic_constants.h of commit 901d1ee391f7",
        "The Chromium Authors",
        date={},
        target="https://github.com/google/quiche",
    ),
    page(
        "BURSTS-2019",
        "Pacing when under-utilizing the Congestion Window (quicwg/base-drafts, issue 2686)",
        "QUIC Working Group",
        date={"month": "May", "year": "2019"},
        target="https://github.com/quicwg/base-drafts/issues/2686",
    ),
    page(
        "QUICHE-2023",
        "recovery: make initial CWND configurable (cloudflare/quiche, pull request 1588)",
        "Cloudflare",
        date={"month": "August", "year": "2023"},
        target="https://github.com/cloudflare/quiche/pull/1588",
    ),
)  # fmt: skip


def cited(*texts: str) -> tuple[Reference, ...]:
    """Return what texts cite, by name.

    >>> [reference.anchor for reference in cited("ten [RFC6928], paced [PACING] as in [RFC6928]")]
    ['PACING', 'RFC6928']
    """
    names = {match[1] for text in texts for match in CITATION.finditer(text)}
    known = {reference.anchor: reference for reference in REFERENCES}
    return tuple(known[name] for name in sorted(names))


def parts_of(text: str, references: Mapping[str, Reference]) -> Iterator[tuple[str, Reference | None]]:
    """Yield a text in parts, each with the reference that is cited behind it; brackets around anything else
    stay.

    >>> known = {reference.anchor: reference for reference in REFERENCES}
    >>> [(part, to.anchor if to else None) for part, to in parts_of("ten [RFC6928], not [OTHER].", known)]
    [('ten ', 'RFC6928'), (', not [OTHER].', None)]
    """
    start = 0
    for match in CITATION.finditer(text):
        if match[1] in references:
            yield text[start : match.start()], references[match[1]]
            start = match.end()
    yield text[start:], None


def reference_text(reference: Reference) -> str:
    """Return a reference as a line, without name and address.

    >>> print(reference_text(cited("[RAPID-START]")[0]))
    K. Oku: Rapid Startup of Congestion Control. draft-kazuho-ccwg-rapid-start-02, March 2026.
    """
    authors = ", ".join(f"{initials} {surname}".strip() for initials, surname in reference.authors)
    numbers = [name if kind == "Internet-Draft" else f"{kind} {name}" for kind, name in reference.series]
    date = " ".join(reference.date[part] for part in ("month", "year") if part in reference.date)
    places = ", ".join(filter(None, (reference.content, *numbers, date)))
    return f"{authors}: {reference.title}." + (f" {places}." if places else "")
