"""How a colour stands out from another."""

import re


def contrast(first: str, second: str) -> float:
    """Return WCAG's contrast ratio of two colours, each as #rrggbb or as a browser writes it."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return WCAG's relative luminance.

    >>> luminance("#ffffff") == luminance("rgb(255, 255, 255)"), luminance("#000000")
    (True, 0.0)
    """
    if colour.startswith("#"):
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    else:
        channels = [int(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
