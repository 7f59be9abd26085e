"""All reproductions by name."""

from collections.abc import Callable

from replay.lab.guest_process import Lab
from replay.published import baidu, cs244, dukkipati, fld, ietf77, linkedin, rfc6928
from replay.published.reproduction import Reproduction

REPRODUCTIONS: dict[str, Callable[[Lab], Reproduction]] = {
    "rfc6928-rounds": rfc6928.run,
    "cs244-2017": cs244.run,
    "dukkipati-2010": dukkipati.run,
    "baidu-2018": baidu.run,
    "fld-2012": fld.run,
    "linkedin-2016": linkedin.run,
    "ietf77": ietf77.run,
}
"""Reproductions by name, sorted by cost."""
