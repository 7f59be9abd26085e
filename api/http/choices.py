"""Parameters with a closed vocabulary: a value that is none of it is refused with the choices."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
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
