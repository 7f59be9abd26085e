"""Parameters of several values."""

import itertools
from collections.abc import Sequence
from typing import Any

from pydantic import BeforeValidator


def apart(values: Sequence[Any] | str) -> list[Any]:
    """The values that a parameter was given, repeated or with commas between them.

    >>> apart(["3, 10", "16", ""]), apart("h2,h3")
    (['3', '10', '16'], ['h2', 'h3'])
    """
    texts = [values] if isinstance(values, str) else values
    words = (str(text).split(",") for text in texts)
    return [word.strip() for word in itertools.chain.from_iterable(words) if word.strip()]


SEVERAL = BeforeValidator(apart)
