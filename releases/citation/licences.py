"""Pages of licences."""

LICENCES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "MIT": "https://spdx.org/licenses/MIT.html",
}
"""Pages of licences by SPDX identifier."""


def licence_page(licence: str) -> str:
    """Return the page of a licence given by its SPDX identifier."""
    return LICENCES.get(licence, f"https://spdx.org/licenses/{licence}.html")
