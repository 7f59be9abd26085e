import pytest
from sqlalchemy import Engine

from storage.year import NotReady, Year, year_of
from tests.factories import stored_crawl


def year(**sealed: bool) -> Year:
    return Year(
        2026, "desktop.local.tcp.web", {f"2026-{month[1:]}": value for month, value in sealed.items()}
    )


def test_the_report_uses_the_newest_crawl_and_months_without_one_are_missing() -> None:
    months = year(m03=True, m11=True)
    assert months.newest() == "2026-11.desktop.local.tcp.web"
    assert months.missing == [f"2026-{month:02}" for month in (1, 2, 4, 5, 6, 7, 8, 9, 10, 12)]


def test_an_older_unfinished_crawl_does_not_delay_the_report() -> None:
    assert year(m03=False, m11=True).newest() == "2026-11.desktop.local.tcp.web"


def test_the_report_waits_for_the_newest_crawl_to_be_sealed() -> None:
    with pytest.raises(NotReady, match=r"2026-12\.desktop\.local\.tcp\.web is not sealed yet"):
        year(m11=True, m12=False).newest()


def test_a_year_without_a_crawl_says_where_to_look() -> None:
    with pytest.raises(NotReady, match="firstflight crawl list"):
        year().newest()


def test_only_months_of_the_series_and_the_year_are_read(database_18: Engine) -> None:
    stored_crawl.store(database_18, stored_crawl.typical(sites=1))
    with database_18.connect() as connection:
        months = year_of(connection, 2026, series="desktop.here.tcp.localweb")
        assert months.sealed == {"2026-11": True}
        assert year_of(connection, 2025, series="desktop.here.tcp.localweb").sealed == {}
        assert year_of(connection, 2026).sealed == {}
