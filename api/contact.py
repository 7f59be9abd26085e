"""The operator's contact addresses, shown on the page for owners of crawled sites."""

import dataclasses
import re

URL = re.compile(r"https?://[^\s()<>\"']{1,200}")
EMAIL = re.compile(r"[^\s()<>\"'@?&,:;]{1,64}@[^\s()<>\"'@?&,:;]{1,200}")


class ContactError(Exception):
    """A contact address is malformed."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Contact:
    """URL and e-mail address of the operator; ContactError if either is malformed."""

    url: str | None = None
    email: str | None = None

    def __post_init__(self) -> None:
        if self.url is not None and not URL.fullmatch(self.url):
            raise ContactError(f"FIRSTFLIGHT_CONTACT_URL is {self.url!r}: write a plain http or https URL")
        if self.email is not None and not EMAIL.fullmatch(self.email):
            raise ContactError(f"FIRSTFLIGHT_CONTACT_EMAIL is {self.email!r}: write one address, name@host")

    def elsewhere(self, path: str) -> str | None:
        """The URL, or None if it is the URL of the page at `path` itself.

        >>> Contact(url="https://a.test/about-the-crawler").elsewhere("/about-the-crawler")
        """
        return None if self.url is None or self.url.rstrip("/").endswith(path) else self.url


NOBODY = Contact()
