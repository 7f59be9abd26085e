"""The packages that a root file system says it has: Debian's, Alpine's, Python's,
and the replay's own kernel."""

import email.parser
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import IO

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.component import Component
from packageurl import PackageURL

KERNEL_SOURCE = "usr/src/linux-source-6.12.version"
"""Version of the Debian source from which the image's guest kernel is compiled (Dockerfile)."""


def packages(root: IO[bytes]) -> Iterator[Component]:
    """Yield each package of a file system, which comes as a tar stream (`docker export`)."""
    with tarfile.open(fileobj=root, mode="r|") as archive:
        for member in archive:
            reader = _reader(member.name)
            file = archive.extractfile(member) if reader and member.isfile() else None
            if reader and file:
                yield from reader(file.read().decode(errors="replace"))


def _reader(path: str) -> Callable[[str], Iterator[Component]] | None:
    if path == "var/lib/dpkg/status":
        return debian
    if path == "lib/apk/db/installed":
        return alpine
    if path == KERNEL_SOURCE:
        return kernel
    return python if re.search(r"site-packages/[^/]+\.dist-info/METADATA$", path) else None


def debian(text: str) -> Iterator[Component]:
    """Installed packages in dpkg's status file.

    >>> list(debian("Package: tar\\nStatus: install ok installed\\nArchitecture: amd64\\nVersion: 1.34-1\\n"))[0].purl.to_string()
    'pkg:deb/debian/tar@1.34-1?arch=amd64'
    """  # noqa: E501
    for block in text.split("\n\n"):
        fields = email.parser.HeaderParser().parsestr(block.strip("\n"))
        if (fields["Status"] or "").endswith(" installed"):
            at = PackageURL(
                "deb", "debian", fields["Package"], fields["Version"], {"arch": fields["Architecture"]}
            )
            yield _component(at)


def alpine(text: str) -> Iterator[Component]:
    """Installed packages in apk's database.

    >>> list(alpine("P:busybox\\nV:1.37.0-r12\\nA:x86_64\\nL:GPL-2.0-only\\n"))[0].purl.to_string()
    'pkg:apk/alpine/busybox@1.37.0-r12?arch=x86_64'
    """
    for block in text.split("\n\n"):
        fields = dict(line.split(":", 1) for line in block.splitlines() if line[1:2] == ":")
        if "P" in fields:
            yield _component(
                PackageURL("apk", "alpine", fields["P"], fields["V"], {"arch": fields["A"]}), fields.get("L")
            )


def python(text: str) -> Iterator[Component]:
    """Yield a Python distribution, by its metadata.

    >>> list(python("Name: Jinja2\\nVersion: 3.1.6\\nLicense-Expression: BSD-3-Clause\\n"))[0].purl.to_string()
    'pkg:pypi/jinja2@3.1.6'
    """  # noqa: E501
    fields = email.parser.HeaderParser().parsestr(text)
    name = re.sub(r"[-_.]+", "-", fields["Name"]).lower()
    yield _component(PackageURL("pypi", None, name, fields["Version"]), fields["License-Expression"])


def kernel(text: str) -> Iterator[Component]:
    """Yield the guest's kernel (User-Mode Linux), by the source package that it is compiled from.

    >>> list(kernel("6.12.90-1"))[0].version
    '6.12.90-1'
    """
    yield _component(PackageURL("deb", "debian", "linux-source-6.12", text.strip()), "GPL-2.0-only")


def _component(at: PackageURL, licence: str | None = None) -> Component:
    licences = [LicenseFactory().make_from_string(licence)] if licence else []
    return Component(name=at.name, version=at.version, purl=at, bom_ref=at.to_string(), licenses=licences)
