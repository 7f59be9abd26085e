"""Values of a TOML file, with NAME=VALUE of a command line in place of the file's."""

import tomllib
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any


def read_values(
    path: Path | None,
    settings: Sequence[str],
    *,
    texts: Container[str] = (),
    lists: Container[str] = (),
    tables_of_lists: Container[str] = (),
) -> dict[str, Any]:
    """Return the values of the file at `path`, with the settings in place of its values.

    A setting of `texts` is taken as it stands; one value of `lists`, or within `tables_of_lists`, is a list
    of one. ValueError for what is no TOML, and for a setting without `=`; OSError.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
            raise ValueError(f"{path}: {exc}") from exc
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {setting}: give NAME=VALUE")
        top, _, key = name.partition(".")
        value = text if top in texts else read_value(text)
        if not isinstance(value, list):
            if key and top in tables_of_lists:
                value = [value]
            elif not key and top in lists:
                value = [str(value)]
        table = values.get(top)
        values[top] = {**(table if isinstance(table, dict) else {}), key: value} if key else value
    return values


def read_value(text: str) -> Any:  # noqa: ANN401  # any value of TOML
    """Return a value as TOML has it; a word or a list of words where it is none.

    >>> read_value("3"), read_value("['10']"), read_value("2026-11"), read_value("10,16 paced")
    (3, ['10'], '2026-11', ['10', '16 paced'])
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.split(",") if "," in text else text
