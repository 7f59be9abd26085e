import io
import json
import tarfile
from typing import Any

import pytest

from scripts.materials.bill import EmptyBill, bill

DPKG = """Package: tar
Status: install ok installed
Architecture: amd64
Version: 1.34+dfsg-1.2+deb12u1
Description: GNU version of the tar archiving utility
 Tar is a program for packaging a set of files.

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1:1.2.13.dfsg-1
"""
PYTHON = "Metadata-Version: 2.4\nName: Jinja2\nVersion: 3.1.6\nLicense-Expression: BSD-3-Clause\n\nText\n"
SITE = "opt/firstflight/.venv/lib/python3.11/site-packages"


def root(files: dict[str, str]) -> io.BytesIO:
    """A file system as `docker export` writes it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    stream.seek(0)
    return stream


def make_bill(files: dict[str, str]) -> dict[str, Any]:
    text = bill(root(files), image="firstflight-api:7.8.9", digest="sha256:abc")
    document: dict[str, Any] = json.loads(text)
    return document


def purls(document: dict[str, Any]) -> set[str]:
    return {component["purl"] for component in document["components"]}


def test_it_has_what_debian_installed_and_not_what_debian_removed() -> None:
    assert purls(make_bill({"var/lib/dpkg/status": DPKG})) == {
        "pkg:deb/debian/tar@1.34%2Bdfsg-1.2%2Bdeb12u1?arch=amd64",
        "pkg:deb/debian/zlib1g@1:1.2.13.dfsg-1?arch=amd64",
    }


def test_it_has_each_python_environment_and_its_licences() -> None:
    document = make_bill(
        {
            f"{SITE}/jinja2-3.1.6.dist-info/METADATA": PYTHON,
            f"{SITE}/jinja2-3.1.6.dist-info/RECORD": "",
            f"{SITE.replace('.venv', '.venv-dags')}/x-1.dist-info/METADATA": "Name: X_y\nVersion: 1\n",
        }
    )
    assert purls(document) == {"pkg:pypi/jinja2@3.1.6", "pkg:pypi/x-y@1"}
    (jinja,) = (component for component in document["components"] if component["name"] == "jinja2")
    assert jinja["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]


def test_it_has_the_guests_kernel_with_its_licence() -> None:
    (kernel,) = make_bill({"usr/src/linux-source-6.12.version": "6.12.90-1"})["components"]
    assert (kernel["purl"], kernel["licenses"][0]["license"]["id"]) == (
        "pkg:deb/debian/linux-source-6.12@6.12.90-1",
        "GPL-2.0-only",
    )


def test_it_names_the_image_that_depends_on_all_of_it() -> None:
    document = make_bill({"var/lib/dpkg/status": DPKG})
    image = document["metadata"]["component"]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert (image["type"], image["name"], image["version"]) == (
        "container",
        "firstflight-api",
        "7.8.9@sha256:abc",
    )
    (depends,) = (
        dependency for dependency in document["dependencies"] if dependency["ref"] == image["bom-ref"]
    )
    assert len(depends["dependsOn"]) == 2


def test_the_same_package_in_two_environments_is_there_once() -> None:
    files = {f"{SITE}/a.dist-info/METADATA": PYTHON, "other/site-packages/b.dist-info/METADATA": PYTHON}
    assert len(make_bill(files)["components"]) == 1


def test_an_image_without_a_database_of_packages_gets_no_bill() -> None:
    with pytest.raises(EmptyBill, match="firstflight-api"):
        make_bill({"bin/program": ""})
