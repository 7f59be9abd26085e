"""Servers that benchmarks run: their processes, their memory and when they answer."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from benchmarks.counting import pss_kb
from crawler.browser.processes import list_descendants

READY_WITHIN_S = 300
"""Time limit for a server to answer, in seconds, on a machine that does other work too."""

STOPS_WITHIN_S = 10


class BenchError(Exception):
    """The benchmark could not be run."""


class Memory:
    """Highest proportional set size of a process with its descendants, sampled ten times a second."""

    def __init__(self, pid: int) -> None:
        self.peak_mb = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self.peak_mb = max(
                self.peak_mb, sum(map(pss_kb, [self._pid, *list_descendants(self._pid)])) / 1000
            )


@contextlib.contextmanager
def process(call: list[str], log: Path, **environment: str) -> Iterator[int]:
    """Run a server for the block; yields its process id."""
    with (
        log.open("w") as output,
        subprocess.Popen(call, env=os.environ | environment, stdout=output, stderr=output) as server,
    ):
        try:
            yield server.pid
        finally:
            server.terminate()
            try:
                server.wait(STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:  # it responds to all clients first
                server.kill()


@contextlib.contextmanager
def serve(data: Path, folder: Path, *, cache: str = "cache") -> Iterator[tuple[int, str]]:
    """Run `firstflight serve` over a data folder for the block, with log and cache in `folder`; yields its
    process id and URL, once it answers."""
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(data),
        "FIRSTFLIGHT_CACHE_DIR": str(folder / cache),
        "FIRSTFLIGHT_TRUSTED_PROXIES": "127.0.0.1",
    }
    log = folder / f"service-{cache}.log"
    program = str(Path(sys.executable).with_name("firstflight"))
    with process([program, "serve", "--port", "0"], log, **environment) as pid:
        address = _read_address(log)
        wait_for_answer(address)
        yield pid, address


@contextlib.contextmanager
def serve_s3(folder: Path) -> Iterator[str]:
    """Run SeaweedFS over a folder for the block; yields the URL of an empty bucket in it, with a key."""
    data = folder / "store"
    shutil.rmtree(data, ignore_errors=True)  # of a run that was stopped
    data.mkdir(parents=True)
    ports = {name: free_port() for name in ("s3.port", "master.port", "filer.port", "volume.port")}
    call = ["weed", "mini", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-bucket=releases"]
    call += [f"-{name}={port}" for name, port in ports.items()]
    call += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-admin.ui=false", "-webdav=false"]
    call += ["-master.telemetry=false", "-volume.max=200"]
    key = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": secrets.token_hex(16)}
    with process(call, folder / "store.log", **key):
        address = f"127.0.0.1:{ports['s3.port']}"
        options = f"scheme=http&endpoint_override={address}&region=us-east-1"
        url = f"s3://{':'.join(key.values())}@releases/?{options}"
        _wait_for_bucket(url)
        yield url
    shutil.rmtree(data)


@contextlib.contextmanager
def serve_datasette(
    program: str, folder: Path, table: pa.Table, name: str, *setting: str
) -> Iterator[tuple[int, str]]:
    """Run Datasette over a table in an immutable database for the block; yields its process id and its URL,
    once it answers."""
    path = folder / f"{name}.db"
    columns = [column.to_pylist() for column in table.itercolumns()]
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE {name} ({', '.join(table.column_names)})")
        marks = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", zip(*columns, strict=True))  # noqa: S608
        database.commit()
    port = free_port()
    call = [program, "serve", "--immutable", str(path), "--port", str(port), "--setting", *setting]
    with process(call, folder / f"{name}.log") as pid:
        address = f"http://127.0.0.1:{port}/"
        wait_for_answer(address)
        yield pid, address


def wait_for_answer(address: str) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=READY_WITHIN_S):  # noqa: S310  # http
            return
        time.sleep(0.1)
    raise BenchError(f"{address} does not answer")


def _wait_for_bucket(url: str) -> None:
    """Wait until an S3 server answers and has made its bucket."""
    deadline = time.monotonic() + READY_WITHIN_S
    store, bucket = fs.FileSystem.from_uri(url)
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if store.get_file_info(bucket).type == fs.FileType.Directory:
                return
        time.sleep(0.1)
    raise BenchError("the S3 server does not answer")


def wait_until_prepared(folder: Path, pid: int, releases: int) -> None:
    """Wait until the service, the process `pid` with one worker, has prepared its releases in `folder`."""
    deadline = time.monotonic() + 10 * READY_WITHIN_S
    while time.monotonic() < deadline:
        if len(list(folder.glob("[!.]*"))) == releases and len(list_descendants(pid)) == 1:
            return
        time.sleep(0.5)
    raise BenchError("the service did not prepare its releases in time")


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _read_address(log: Path) -> str:
    """Return the URL that `firstflight serve` prints; waits for it."""
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if match := re.search(r"http://\S+/", log.read_text(encoding="utf-8")):
            return match[0]
        time.sleep(0.1)
    raise BenchError(f"the service does not begin: {log.read_text(encoding='utf-8')}")
