"""Registrable domains of hosts by the Public Suffix List,
which tell a page's own hosts from those of third parties."""

import functools
import importlib.metadata
import ipaddress

from publicsuffixlist import PublicSuffixList


def list_version() -> str:
    """Return the version of the package that holds the list, which ends in the list's day."""
    return f"publicsuffixlist {importlib.metadata.version('publicsuffixlist')}"


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def registrable_domain(host: str) -> str:
    """Return a public suffix and one label more; the host itself if it is an address or a suffix.

    >>> registrable_domain("static.example.co.uk"), registrable_domain("a.github.io"), registrable_domain("192.0.2.1")
    ('example.co.uk', 'a.github.io', '192.0.2.1')
    """  # noqa: E501
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return _suffixes().privatesuffix(host.lower()) or host
    return host
