"""Inputs of a drawn population, each with its own date, source and limit of age."""

import re
from dataclasses import dataclass

from replay.networks.mlab.draws import MONTH as LINES_MONTH

MONTH = re.compile(r"(\d{4})(?:-(\d\d))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInput:
    """One input of the networks, and how old it may be."""

    id: str
    what: str
    measured: str
    """Month as YYYY-MM, or a year, of its oldest measurement."""
    most_months: int | None
    """Most months that it may be older than the pages; None: nothing newer is published, and the methods say
    its year."""
    source: str

    def age_months(self, month: str) -> int:
        """Return the months from the measurement to `month`, as YYYY-MM.

        >>> INPUTS[0].age_months("2026-11")
        13
        """
        (year, number), (own_year, own_number) = (map(int, _parts(text)) for text in (month, self.measured))
        return 12 * (year - own_year) + number - own_number

    def is_stale(self, month: str) -> bool:
        """Return whether it is older than it may be for pages of `month`."""
        return self.most_months is not None and self.age_months(month) > self.most_months

    def stale_sentence(self, month: str) -> str | None:
        """Return what a decision over pages of `month` says of an input that is too old for them; None if it
        is not."""
        if not self.is_stale(month):
            return None
        age = f"more than {self.most_months} months older than the pages"
        return f"The {self.what} are of {self.measured}, {age}."


def _parts(month: str) -> tuple[str, str]:
    """Return the year and month, of a year alone its first; ValueError if the text is neither."""
    if (match := MONTH.fullmatch(month)) is None:
        raise ValueError(f"{month!r} is no month as YYYY-MM, and no year")
    return match[1], match[2] or "01"


INPUTS = (
    NetworkInput(
        id="lines",
        what="rates, round trips and losses of access lines by country",
        measured=LINES_MONTH,
        most_months=24,
        source="M-Lab NDT downloads by country (IQB, CC0 1.0)",
    ),
    NetworkInput(
        id="queues",
        what="standing queues of loaded lines by class of rate",
        measured="2023-07",
        most_months=None,
        source="FCC, Measuring Broadband America, by UCBoulder/bclear@506a993; below 6 Mbps of 2011 to 2012",
    ),
    NetworkInput(
        id="replicas",
        what="distances of replicas of content delivery networks, 19 countries",
        measured="2023",
        most_months=None,
        source="doi 10.4230/OASIcs.NINeS.2026.23 (CC BY 4.0), by "
        "rashnakumar96/who-holds-the-steering-wheel-cdn-replica-selection@76e0b45",
    ),
    NetworkInput(
        id="others",
        what="distances of other servers, from two places",
        measured="2019-12",
        most_months=None,
        source="handshakes recorded in us-east-1 (MaryRosariaTaft/WebPageTest-AdBlock-Project@f699fe9) and "
        "in Argentina, August 2025 (rashnakumar96/Crux_Sites_Scrapper@1ea3816)",
    ),
    NetworkInput(
        id="senders",
        what="shares of CUBIC at once, CUBIC paced and BBR by object",
        measured="2019",
        most_months=None,
        source="CDNs' shares of objects, 14 countries, 2023 (as replicas); what they send with: Mishra et "
        "al., SIGMETRICS 2020, doi 10.1145/3366693, and Fastly's documentation",
    ),
)
