"""Pages of licences, and what is licensed."""

LICENCES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "MIT": "https://spdx.org/licenses/MIT.html",
}


def licence_page(licence: str) -> str:
    return LICENCES.get(licence, f"https://spdx.org/licenses/{licence}.html")


def licence_text(licence: str, *, is_recorded: bool) -> str:
    """Return the licence of data: of pages that somebody else recorded it is that of what we derived.

    >>> licence_text("CC-BY-4.0", is_recorded=True)
    'CC-BY-4.0 for what is derived'
    """
    return f"{licence} for what is derived" if is_recorded else licence
