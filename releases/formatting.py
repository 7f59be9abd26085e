"""Numbers, intervals, ranges, byte sizes and the audit by packets as pages and reports print them,
and the same in plain ASCII.

Thousands and units are set apart by a narrow no-break space, negative numbers have a minus sign,
and ranges an en dash.

* What was measured has three significant digits, and all digits left of the point (`significant`,
  `quantity`); both ends of an interval have the decimal places of the larger one (`estimate`, `range_text`).
  More are printed where three would mislead: a percentage is not rounded to 100 % nor an end of an interval
  to 0 unless it is that, and a number that is judged keeps to its side of its bound (`near`).
* What was counted has all its digits (`grouped`).
* What was stated, as a bound, a setting or a published figure,
  has the digits that it was stated with (`stated`).
"""

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from releases.interval import Interval
from storage.packet_audit import PacketAudit

MINUS = "\u2212"

NARROW = "\u202f"

INFINITE = "\u221e"

RANGE = "\u2013"

UNKNOWN = "\u2013"
"""Stands for a value that is unknown."""

THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d)(?=(?:\d{3})+(?: bytes| B)\b)")
"""Places between thousands: a comma, or nothing before so many bytes."""

NEGATIVE = re.compile(r"(?<![^ (])-(?=\d)")

UNIT = re.compile(r"(?<=\d)[ \u00a0](?=(?:%|pp|[kMG]?B|[kMG]bps|m?s|min)(?!\w))")
"""A space between a number and its unit's sign."""

DIGITS = 3
"""Significant digits of an estimate."""

EQUAL = 1e-6
"""Difference from a bound that stored digits do not tell from none."""


def number(value: float | None, digits: int = 1) -> str:
    """Return a number with `digits` decimal places and its thousands set apart.

    >>> number(-1.25, 1) == f"{MINUS}1.2", number(-0.01), number(None) == UNKNOWN, number(12345, 0) == f"12{NARROW}345"
    (True, '0.0', True, True)
    >>> number(float("-inf")) == MINUS + INFINITE
    True
    """  # noqa: E501
    if value is None:
        return UNKNOWN
    text = (
        f"{round(value, digits) + 0.0:,.{digits}f}".replace(",", NARROW)
        if math.isfinite(value)
        else f"{value:g}".replace("inf", INFINITE)
    )
    return text.replace("-", MINUS)


def interval_text(interval: Interval, unit: str = "", *, near: Iterable[float] = ()) -> str:
    """Return an estimate with its unit and its interval, as `estimate` writes them.

    >>> from releases.interval import Interval
    >>> interval_text(Interval(2.345, 1.0, 3.5), "%") == f"2.35{NARROW}% (1.00{RANGE}3.50)"
    True
    """
    return estimate(interval.estimate, interval.lower, interval.upper, unit, near=near)


def grouped(count: int | None) -> str:
    """Return a whole number with its thousands set apart.

    >>> grouped(1234567)
    '1\\u202f234\\u202f567'
    """
    return UNKNOWN if count is None else f"{count:,}".replace(",", NARROW)


def packet_agreement(packets: Mapping[str, int]) -> str | None:
    """Return the shares of a manifest's audit by packets, rounded down; None if no connection was
    captured whole.

    >>> counts = {"connections": 300, "agreeing_connections": 299, "received_bytes": 5000, "agreeing_bytes": 5000}
    >>> (packet_agreement(counts) or "").replace(NARROW, " ")
    'equal on 99.6 % of 300 connections that were captured whole, and on 100.0 % of their bytes'
    >>> packet_agreement({"connections": 0})
    """  # noqa: E501
    audit = PacketAudit(**packets)
    if audit.connection_share is None or audit.byte_share is None:
        return None
    connections, octets = (
        f"{number(math.floor(share * 1000) / 10)}{NARROW}%"
        for share in (audit.connection_share, audit.byte_share)
    )
    return (
        f"equal on {connections} of {grouped(audit.connections)} connections that were captured whole, "
        f"and on {octets} of their bytes"
    )


def size(size_bytes: int | None, *, has_zeros: bool = False) -> str:
    """Return a size to three significant digits, in units of 1000 bytes;
    a measured one `has_zeros` behind the point, a bound has none.

    >>> [size(n).replace(NARROW, " ") for n in (950, 14_300, 2_345_678, 999_900, 2 * 10**12)]
    ['950 B', '14.3 kB', '2.35 MB', '1 MB', '2 000 GB']
    >>> [size(n, has_zeros=True).replace(NARROW, " ") for n in (100, 1200, 99_960)]
    ['100 B', '1.20 kB', '100 kB']
    """
    if size_bytes is None:
        return UNKNOWN
    rounded = float(f"{size_bytes:.{DIGITS - 1}e}")
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if rounded >= factor:
            value = rounded / factor
            return _with_unit(significant(value), unit) if has_zeros else stated(value, unit)
    return f"{size_bytes}{NARROW}B"


def measured(value: float, unit: str) -> str:
    """Return a value of a measure whose unit is bytes, or a number of what `unit` says.

    >>> measured(1200, "bytes").replace(NARROW, " "), measured(71.0, "requests")
    ('1.2 kB', '71')
    """
    return size(round(value)) if unit == "bytes" else grouped(round(value))


def significant(value: float | None, digits: int = DIGITS, *, near: Iterable[float] = ()) -> str:
    """Return a measured number with `digits` significant digits,
    or as many as keep it to its side of the numbers `near` it.

    >>> [significant(value) for value in (0.012345, 2.345, 98.76, 1234.5, 0, None)] == [
    ...     "0.0123", "2.35", "98.8", f"1{NARROW}234", "0.00", UNKNOWN
    ... ]
    True
    >>> significant(99.97), significant(99.97, near=[100]), significant(0.7596, near=[0.76])
    ('100', '99.97', '0.7596')
    """
    return UNKNOWN if value is None else _number_near(value, _places([value], digits), near)


def quantity(value: float | None, unit: str, digits: int = DIGITS, *, near: Iterable[float] = ()) -> str:
    """Return a measured number with its unit; an unknown one has none.

    >>> quantity(12.345, "ms") == f"12.3{NARROW}ms", quantity(None, "ms") == UNKNOWN, quantity(99.97, "%") == f"99.97{NARROW}%"
    (True, True, True)
    """  # noqa: E501
    return (
        UNKNOWN
        if value is None
        else _with_unit(significant(value, digits, near=[*near, *wholes(unit)]), unit)
    )


def percent(share: float | None) -> str:
    """Return a share of 1 in per cent, as a measured number.

    >>> [percent(share).replace(NARROW, " ") for share in (0.5, 0.99999, 1.0, 0.00123, 0.0)]
    ['50.0 %', '99.999 %', '100 %', '0.123 %', '0.00 %']
    """
    return quantity(None if share is None else 100 * share, "%")


def capital(text: str) -> str:
    """Return text with a capital at its beginning; unlike `str.capitalize`, the rest stays as it is.

    >>> capital("first flights after TLS")
    'First flights after TLS'
    """
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str]) -> str:
    """Return one word or more as a list.

    >>> listed(["pages"]), listed(["hosts", "connections", "pages"])
    ('pages', 'hosts, connections and pages')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def between(ends: Sequence[str]) -> str:
    """Return an interval in words, of its ends in words, with a common unit named once.

    >>> between(["41.5 %", "44.8 %"]), between(["980 B", "1.20 kB"]), between(["<0.1 %", "0.2 %"]), between(["998 ms", "1 359 ms"])
    ('41.5 to 44.8 %', '980 B to 1.20 kB', '<0.1 to 0.2 %', '998 to 1 359 ms')
    """  # noqa: E501
    (lower, *unit), (_, *other) = (re.split(r"\s(?=\D*$)", end) for end in ends)
    return f"{lower if unit == other else ends[0]} to {ends[1]}"


def estimate(
    value: float | None,
    lower: float | None,
    upper: float | None,
    unit: str = "",
    *,
    near: Iterable[float] = (),
) -> str:
    """Return an estimate with its unit and, if it has one, its interval.

    >>> estimate(2.345, 1, 3.5, "%") == f"2.35{NARROW}% (1.00{RANGE}3.50)", estimate(2, None, None)
    (True, '2.00')
    """
    if value is None:
        return UNKNOWN
    near = [*near, *wholes(unit)]
    shown = _with_unit(significant(value, near=near), unit)
    return shown if lower is None and upper is None else f"{shown} ({range_text(lower, upper, near=near)})"


def range_text(
    lower: float | None, upper: float | None, unit: str = "", *, near: Iterable[float] = ()
) -> str:
    """Return the range from `lower` to `upper`; an end without a bound is None, as in JSON.

    It has an en dash, or "to" where a minus sign could be taken for the dash.

    >>> range_text(1, 3.5, "%") == f"1.00{RANGE}3.50{NARROW}%", range_text(-1, 3.5) == f"{MINUS}1.00 to 3.50"
    (True, True)
    >>> range_text(None, 2), range_text(1, None), range_text(None, None) == UNKNOWN
    ('at most 2.00', 'at least 1.00', True)
    >>> range_text(-0.003, 1.32) == f"{MINUS}0.003 to 1.32", range_text(0.6, 0.9998, near=[1]) == f"0.600{RANGE}0.9998"
    (True, True)
    """  # noqa: E501
    near = [0.0, *near, *wholes(unit)]
    if lower is None or upper is None:
        words, end = ("at most", upper) if lower is None else ("at least", lower)
        return UNKNOWN if end is None else f"{words} {_with_unit(significant(end, near=near), unit)}"
    places = _places([lower, upper], near=near)
    first, last = (_number_near(end, places, near) for end in (lower, upper))
    return _with_unit(f"{first}{' to ' if first.startswith(MINUS) else RANGE}{last}", unit)


def wholes(unit: str) -> tuple[float, ...]:
    """Return the values that a measured number in a unit must not be rounded to: 100 for a percentage.

    >>> wholes("%"), wholes("ms")
    ((100.0,), ())
    """
    return (100.0,) if unit == "%" else ()


ASCII = str.maketrans({
    NARROW: " ", "\u00a0": " ", "\u2009": " ", MINUS: "-", "\u2013": "-", "\u2014": "-", "\u2018": "'", "\u2019": "'",  # noqa: E501
    "\u201c": '"', "\u201d": '"', "\u2026": "...", "\u00d7": "x", "\u00b7": "*", INFINITE: "inf", "\u2265": ">=",  # noqa: E501
    "\u2264": "<=", "\u00b1": "+-", "\u00b5": "u", "\u00a7": "section ", "\u2192": "->", "\u2713": "yes", "\u2717": "no",  # noqa: E501
})  # fmt: skip


UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of characters without a shape of their own."""


def visible_text(text: str) -> str:
    """Return the text with invisible characters but line feeds replaced:
    controls and direction marks could disguise a name.

    >>> visible_text("evil\u202emoc.knab\x1b[2J") == "evil\ufffdmoc.knab\ufffd[2J"
    True
    """
    return "".join(
        "\ufffd" if unicodedata.category(character) in UNSEEN and character != "\n" else character
        for character in text
    )


def with_code(text: str) -> str:
    """Return the text as HTML with what stands between backticks as code.

    >>> with_code("run `firstflight demo` & look")
    'run <code>firstflight demo</code> &amp; look'
    """
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(visible_text(text)))


def in_ascii(text: str) -> str:
    """Return the same text in printable ASCII and line feeds: accents are dropped,
    other characters become question marks.

    >>> in_ascii(f"{MINUS}1{NARROW}234{NARROW}ms, p10{RANGE}p90, Gödel\x1b\u202e\u4e2d")
    '-1 234 ms, p10-p90, Godel???'
    """
    spelt = unicodedata.normalize("NFKD", text.translate(ASCII))
    kept = "".join(character for character in spelt if not unicodedata.combining(character))
    return "".join(character if character == "\n" or " " <= character <= "~" else "?" for character in kept)


def stated(value: float | None, unit: str = "") -> str:
    """Return a bound, count or setting with the digits that it was stated with, at most six, and its unit.

    >>> stated(1, "%") == f"1{NARROW}%", stated(0.76), stated(-1000) == f"{MINUS}1{NARROW}000", stated(None) == UNKNOWN
    (True, '0.76', True, True)
    """  # noqa: E501
    if value is None:
        return UNKNOWN
    text = f"{value:,g}" if math.isfinite(value) else f"{value:g}".replace("inf", INFINITE)
    return _with_unit(text.replace(",", NARROW).replace("-", MINUS), unit)


def apart(sentence: str) -> str:
    """Return a sentence from elsewhere, or from an earlier version, with its numbers set as in all other
    text: thousands, signs and units.

    >>> apart("12,345 more loads, 2,048 of them now") == f"12{NARROW}345 more loads, 2{NARROW}048 of them now"
    True
    >>> apart("-0.3, 18673 bytes, p-0.3") == f"{MINUS}0.3, 18{NARROW}673 bytes, p-0.3", apart("95 % of 9 s") == f"95{NARROW}% of 9{NARROW}s"
    (True, True)
    """  # noqa: E501
    return NEGATIVE.sub(MINUS, tied(THOUSANDS.sub(NARROW, sentence)))


def tied(sentence: str) -> str:
    """Return the sentence with a narrow no-break space between each number and the sign of its unit.

    >>> tied("95 % of 2 segments") == f"95{NARROW}% of 2 segments"
    True
    """
    return UNIT.sub(NARROW, sentence)


def _places(values: list[float], digits: int = DIGITS, *, near: Iterable[float] = ()) -> int:
    """Return the decimal places that give the largest finite value `digits` significant digits, unrounded
    if rounding made it one of `near`.
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if not largest:
        return digits - 1
    # Rounding first: 9.996 has one digit more before the point than it seems.
    shown = f"{largest:.{digits - 1}e}"
    exponent = math.floor(math.log10(largest)) if float(shown) in near else int(shown.partition("e")[2])
    return max(0, digits - 1 - exponent)


def _number_near(value: float, places: int, near: Iterable[float]) -> str:
    """Return the number with the fewest decimal places, at least `places`, that keep it to its side of
    each number `near`.
    """
    for bound in near:
        if math.isfinite(value) and abs(value - bound) > EQUAL:
            while (round(value, places) > bound) != (value > bound) or round(value, places) == bound:
                places += 1
    return number(value, places)


def _with_unit(text: str, unit: str) -> str:
    return f"{text}{NARROW}{unit}" if unit else text
