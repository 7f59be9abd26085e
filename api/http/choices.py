"""Types of parameters: of a closed vocabulary, and of several values."""

import itertools
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from api.http.problems import NO_SUCH_CHOICE


def choice(values: Sequence[str]) -> Any:  # noqa: ANN401  # a type expression
    """The type of a parameter that has one of these values."""

    def check(value: str) -> str:
        if value not in values:
            raise PydanticCustomError(
                NO_SUCH_CHOICE, "no such value; there are {choices}", {"choices": ", ".join(values)}
            )
        return value

    return Annotated[str, AfterValidator(check), WithJsonSchema({"type": "string", "enum": list(values)})]


def apart(values: Sequence[Any] | str) -> list[Any]:
    """The values that a parameter was given, repeated or with commas between them.

    >>> apart(["3, 10", "16", ""]), apart("h2,h3")
    (['3', '10', '16'], ['h2', 'h3'])
    """
    texts = [values] if isinstance(values, str) else values
    words = (str(text).split(",") for text in texts)
    return [word.strip() for word in itertools.chain.from_iterable(words) if word.strip()]


SEVERAL = BeforeValidator(apart)
"""What the type of a parameter with several values has."""
