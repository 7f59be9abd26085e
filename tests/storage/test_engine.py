import psycopg
import pytest
from sqlalchemy import Engine, text

from storage import engine as seam


def use(url: str) -> None:
    engine = seam.connect(url)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    finally:
        engine.dispose()


def one_line(excinfo: pytest.ExceptionInfo[seam.DatabaseError]) -> str:
    message = str(excinfo.value)
    assert "\n" not in message
    return message


def test_a_missing_server_is_reported_in_one_line_without_the_password() -> None:
    with pytest.raises(seam.DatabaseUnreachable, match="FIRSTFLIGHT_DATABASE_URL") as excinfo:
        use("postgresql://someone:secret@127.0.0.1:1/none")
    assert "secret" not in one_line(excinfo)


@pytest.mark.parametrize("url", ["nonsense", "mysql://h/d", "postgresql://h:port/d", ""])
def test_a_url_that_is_not_postgresql_is_refused(url: str) -> None:
    with pytest.raises(seam.DatabaseRefused) as excinfo:
        use(url)
    one_line(excinfo)


def test_a_missing_database_is_reported_in_one_line(database: Engine) -> None:
    with pytest.raises(seam.DatabaseError, match="does not exist") as excinfo:
        use(database.url.set(database="nowhere").render_as_string(hide_password=False))
    one_line(excinfo)


def test_a_role_that_may_not_write_is_refused(database: Engine) -> None:
    with database.begin() as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        with pytest.raises(seam.DatabaseRefused):
            connection.execute(text("DELETE FROM outcome"))


def test_a_full_disk_is_reported_in_one_line(database: Engine) -> None:
    with pytest.raises(seam.DatabaseFull, match="make room") as excinfo, database.begin() as connection:
        connection.execute(
            text("DO $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$")
        )
    one_line(excinfo)


def test_a_lost_connection_is_replaced_at_its_next_use(database: Engine) -> None:
    with database.connect() as connection:
        pid = connection.scalar(text("SELECT pg_backend_pid()"))
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    with database.connect() as connection:
        assert connection.scalar(text("SELECT pg_backend_pid()")) != pid


def test_a_connection_lost_within_a_transaction_is_reported_in_one_line(database: Engine) -> None:
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with database.connect() as connection:
        pid = connection.scalar(text("SELECT pg_backend_pid()"))
        with psycopg.connect(url) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(seam.DatabaseUnreachable) as excinfo:
            connection.execute(text("SELECT 1"))
    one_line(excinfo)
