"""The bill of materials of an image, in CycloneDX: docker export CONTAINER | python -m
scripts.materials.bill IMAGE DIGEST > FILE."""

import sys
from typing import IO

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from scripts.materials.packages import packages


class EmptyBill(Exception):
    """No package was found: a bill that says so would be taken for a clean one."""


def bill(root: IO[bytes], *, image: str, digest: str) -> str:
    """CycloneDX 1.6 as JSON, checked against its schema, of all packages in the file system of an image.

    `root` is a tar stream of it, `digest` the image's own.
    """
    components = {component.bom_ref.value: component for component in packages(root)}
    if not components:
        raise EmptyBill(f"{image}: no database of packages in it")
    name, _, version = image.rpartition(":")
    it = Component(type=ComponentType.CONTAINER, name=name, version=f"{version}@{digest}", bom_ref=image)
    document = Bom(components=components.values())
    document.metadata.component = it
    document.register_dependency(it, components.values())
    text = JsonV1Dot6(document).output_as_string(indent=1)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert wrong is None, wrong
    return text


if __name__ == "__main__":
    try:
        print(bill(sys.stdin.buffer, image=sys.argv[1], digest=sys.argv[2]))
    except EmptyBill as exc:
        sys.exit(str(exc))
