"""The published schema of the Citation File Format, by which files of ours and of others are valid or not."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

SCHEMA: dict[str, Any] = json.loads(
    Path(__file__).with_name("cff-1.2.0-schema.json").read_text(encoding="utf-8")
)


class Texts(yaml.SafeLoader):
    """Reads dates as texts, as the schema has them."""


Texts.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in patterns if tag != "tag:yaml.org,2002:timestamp"]
    for letter, patterns in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def valid_cff(text: str) -> dict[str, Any]:
    """The facts of a CITATION.cff; jsonschema.ValidationError, or an error of the YAML, if it is none."""
    facts: dict[str, Any] = yaml.load(text, Texts)  # a subclass of the safe loader
    jsonschema.validate(facts, SCHEMA, format_checker=jsonschema.FormatChecker())
    return facts
