"""A made-up crawl in PostgreSQL."""

import random

from sqlalchemy import Connection, Engine, delete, insert, update

from schema.tables import OBSERVATIONS, Base, Crawl, Site, SiteList
from storage.bulk_copy import copy_rows
from storage.partitions import create_partitions
from tests.factories.made_up_crawl import MadeUp

TABLES: tuple[type[Base], ...] = (Site, *OBSERVATIONS)


def typical(sites: int = 12) -> MadeUp:
    """Pages over H2 and in the clear, with failed visits, retries, cached and missing responses."""
    chance = random.Random(1)
    made_up = MadeUp()
    for place in range(sites):
        if place % 5 == 4:
            made_up.add_visit(outcome="timeout", is_final=False)
        made_up.add_visit(outcome="dns" if place % 7 == 6 else "ok", host=f"bücher-{place}.test")
        if made_up.visit[-1]["outcome"] == "dns":
            continue
        for _ in range(chance.randrange(1, 4)):
            made_up.add_connection(
                tls_handshake_bytes=chance.choice([None, 2500, 9000]), tls_ticket_bytes=500, frame_bytes=70
            )
            for position in range(chance.randrange(1, 6)):
                start = 110 + 40 * position
                made_up.add_response(
                    int(chance.lognormvariate(8, 2)) + 80,
                    sent_ms=start,
                    first_ms=start + chance.choice([50, 120]),
                )
        made_up.add_response(None, unknown=chance.choice(["from_cache", "unseen", "no_response"]))
    return made_up


def store(engine: Engine, made_up: MadeUp, *, sealed: bool = True) -> None:
    """Write the rows as a crawl; its id is the server's and goes into every row."""
    with engine.begin() as connection:
        connection.execute(insert(SiteList).values(made_up.site_list))
        crawl = {name: value for name, value in made_up.crawl.items() if name != "id"}
        crawl_id = connection.execute(insert(Crawl).values(crawl).returning(Crawl.id)).scalar_one()
        made_up.crawl_id = crawl_id
        for rows in (made_up.site, made_up.visit, made_up.connection, made_up.response):
            for row in rows:
                row["crawl_id"] = crawl_id
        if not sealed:
            connection.execute(update(Crawl).values(sealed_at=None))
        create_partitions(connection, crawl_id)
        write(connection, made_up)


def write(connection: Connection, made_up: MadeUp, *, order: random.Random | None = None) -> None:
    """The rows in the given order or in random order."""
    for model in TABLES:
        rows = list(made_up.rows()[model.__tablename__])
        if order is not None:
            order.shuffle(rows)
        copy_rows(connection, model, rows)


def rewrite(engine: Engine, made_up: MadeUp, *, seed: int) -> None:
    """The same rows in another physical order."""
    with engine.begin() as connection:
        for model in reversed(TABLES):
            connection.execute(delete(model))
        write(connection, made_up, order=random.Random(1))
