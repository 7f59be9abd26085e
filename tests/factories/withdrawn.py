"""A data folder that names a site in every possible place, and a search for the bytes of the name."""

import dataclasses
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Engine

from releases.build import build
from releases.publish import publish
from schema.computed_tables import CELL
from storage import backup
from storage.embedded import programs
from storage.partitions import seal_partitions
from storage.sums import seal
from tests.factories import stored_crawl
from tests.factories.made_up_crawl import NAME, MadeUp

HOST = "very-own-name.test"
CRAWL = str(NAME)


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """Paths of the data folder."""

    data: Path
    store: Path
    engine: Engine
    made_up: MadeUp

    @property
    def environment(self) -> dict[str, str]:
        return {
            "FIRSTFLIGHT_DATA_DIR": str(self.data),
            "FIRSTFLIGHT_DATABASE_URL": self.engine.url.set(drivername="postgresql").render_as_string(
                hide_password=False
            ),
            "FIRSTFLIGHT_PUBLISH_URL": self.store.as_uri(),
        }

    def named_in(self) -> list[str]:
        """Files that still contain the bytes of the name."""
        files = [path for folder in (self.data, self.store) for path in folder.rglob("*")]
        leftovers = [path for path in files if HOST in path.name]
        leftovers += [
            path for path in files if path.is_file() and any(NEEDLE in text for text in texts(path))
        ]
        url = self.environment["FIRSTFLIGHT_DATABASE_URL"]
        dump = subprocess.run([programs() / "pg_dump", "--dbname", url], capture_output=True, check=True)
        assert b"COPY public.response_" in dump.stdout
        return sorted(str(path) for path in leftovers) + ["the database"] * (NEEDLE in dump.stdout.lower())


NEEDLE = HOST.encode()


def texts(path: Path) -> Iterator[bytes]:
    """Contents of a file: raw, decompressed, decoded and restored."""
    content = path.read_bytes()
    yield content.lower()
    if content.startswith(b"\x1f\x8b"):
        yield gzip.decompress(content).lower()
    if path.suffix == ".dump":
        read = [str(programs() / "pg_restore"), "--file=-", str(path)]
        yield subprocess.run(read, capture_output=True, check=True).stdout.lower()
    if path.suffix == ".parquet":
        table = pq.read_table(path, partitioning=None)
        yield repr(table.schema.metadata).encode().lower()
        for column in table.columns:
            if pa.types.is_string(column.type):
                yield "\n".join(text or "" for text in column.to_pylist()).encode().lower()
        yield repr(pq.read_metadata(path).to_dict()).encode().lower()


def visits() -> MadeUp:
    """Eight sites; the third is withdrawn, the others load from it, are sent to it, or name it in paths."""
    made_up = MadeUp()
    for place in range(8):
        own = place == 2
        if own:
            made_up.add_visit(outcome="timeout", is_final=False, host=f"www.{HOST}")
        made_up.add_visit(host=f"www.{HOST}" if own else f"site{place}.test")
        made_up.add_connection(tls_handshake_bytes=2500, tls_ticket_bytes=500)
        made_up.add_response(8000 + place)
        made_up.add_connection(host=f"cdn.{HOST}" if place % 2 else "cdn.test", tls_handshake_bytes=900)
        made_up.add_response(70_000 + place)
        made_up.response[-1]["host"] = made_up.connection[-1]["host"]
        made_up.add_connection(
            host=f"img.{HOST.upper()}" if place % 2 else "img.test", tls_handshake_bytes=900
        )
        made_up.add_response(500 + place)
        made_up.response[-1]["host"] = made_up.connection[-1]["host"]
        made_up.add_response(600 + place)
        made_up.response[-1]["path"] = f"/proxy/https://{HOST}/logo.png"
    made_up.visit[-1]["final_host"] = HOST
    for connection in made_up.connection:
        connection["packet_bytes"] = connection["received_bytes"]
    return made_up


def make(engine: Engine, folder: Path) -> World:
    """The complete data folder: two versions of a release, also in a store, replays, reports, lists,
    a backup, an opt-out list."""
    data, store = folder / "data", folder / "store"
    store.mkdir(parents=True)
    made_up = visits()
    stored_crawl.store(engine, made_up)
    with engine.begin() as connection:
        seal_partitions(connection, made_up.crawl_id)
    world = World(data=data, store=store, engine=engine, made_up=made_up)
    for version in (1, 2):
        reason = "made twice" if version > 1 else None
        built = build(engine, CRAWL, data / "releases", version=version, reason=reason)
        publish(built.release, store.as_uri())
    _replays(data / "replays")
    for year, comment in ((2025, "nobody"), (2026, f"largest: www.{HOST}")):
        report = data / f"reports/{year}/v1"
        report.mkdir(parents=True)
        (report / "index.html").write_text(f"<p>{comment}</p>")
        source = {"crawl": CRAWL, "version": 2, "checksum": "ab" * 32}
        seal(report, {"kind": "report", "year": year, "publication": {"version": 1}, "release": source})
    (data / "lists/tranco").mkdir(parents=True)
    (data / "lists/tranco/K2LPW.csv").write_text(f"1,site1.test\n2,{HOST}\n")
    (data / "lists/sites.txt").write_text(f"site1.test\n{HOST}\n")
    (data / "opt-out.txt").write_text(f"site9.test\n# {HOST} wrote\n{HOST}\n")
    backup.backup(world.environment["FIRSTFLIGHT_DATABASE_URL"], data / "backups", keep=4)
    return world


def _replays(folder: Path) -> None:
    rows = [
        dict.fromkeys(CELL.names) | {"page": f"www.{HOST}"},
        dict.fromkeys(CELL.names) | {"page": "a.test"},
    ]
    cells = pa.Table.from_pylist(rows, schema=pa.schema([field.with_nullable(True) for field in CELL]))
    release = {"release": {"crawl": CRAWL, "version": 2, "checksum": "ab" * 32}}
    for name, facts, table in (
        (f"{CRAWL}.0123abcd/stage-01", {"plan": release}, cells),
        (f"{CRAWL}.4567cdef/stage-01.parts/1-of-2", {"plan": release}, cells),
        (f"{CRAWL}.4567cdef/stage-01.parts/2-of-2", {"plan": release}, cells.slice(1)),
        ("recordings-89abcdef.0123abcd/stage-01", {"plan": {"recordings": []}}, cells.slice(1)),
    ):
        (folder / name).mkdir(parents=True)
        pq.write_table(table, folder / name / "cells.parquet")
        (folder / name / "stage.json").write_text(json.dumps(facts))
        seal(folder / name, {})
