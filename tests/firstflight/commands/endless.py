"""`firstflight serve`, where a question for the path `/endless` takes hours.

python -m tests.firstflight.commands.endless serve
"""

from typing import Any

from api.rows import query
from firstflight.main import main

PATH = "/endless"

statement = query.statement


def search(question: query.Question, rendering: query.Rendering) -> tuple[str, list[Any]]:
    sql, values = statement(question, rendering)
    if any(value == [PATH] for _, value in question.filters):
        sql = sql.replace(" WHERE ", ", range(1000000000000) AS numbers(seventh) WHERE seventh % 7 = 8 OR ")
    return sql, values


if __name__ == "__main__":
    query.statement = search
    main()
