"""Encodes batches of rows as the bytes of a format, piece by piece, so that no answer is held whole."""

import io
import json
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from api.formats.offered import ARROW, CSV, NDJSON, PARQUET, Format
from api.http.problems import Problem

LINE = "line"

CUT = "stream_cut"
"""The only member of the last line of a stream that was cut; in CSV the line begins with it."""


def encoded(wanted: Format, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[bytes]:
    """The bytes of `batches` in a bulk format."""
    encoders = {NDJSON: _ndjson, CSV: _csv, ARROW: _arrow, PARQUET: _parquet}
    return encoders[wanted](batches, schema)


def json_rows(batches: Iterable[pa.RecordBatch]) -> list[str]:
    return [line for batch in batches for line in batch[LINE].to_pylist()]


def cut_line(wanted: Format, problem: Problem) -> bytes:
    """The last line of a stream that was cut; empty in a binary format, which lacks its end."""
    if wanted == NDJSON:
        reason = {"type": f"/problems#{problem.kind.id}", "detail": problem.detail}
        return json.dumps({CUT: reason}).encode() + b"\n"
    if wanted == CSV:
        text = f"{CUT}: {problem.detail}".replace('"', '""')
        return f'"{text}"\n'.encode()
    return b""


def _ndjson(batches: Iterable[pa.RecordBatch], _schema: pa.Schema) -> Iterator[bytes]:
    for batch in batches:
        yield "".join(f"{line}\n" for line in batch[LINE].to_pylist()).encode()


def _csv(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[bytes]:
    yield (",".join(schema.names) + "\n").encode()
    options = csv.WriteOptions(include_header=False)
    for batch in batches:
        sink = pa.BufferOutputStream()
        csv.write_csv(batch, sink, options)
        yield sink.getvalue().to_pybytes()


def _arrow(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[bytes]:
    sink = _Drain()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.drained()
    yield sink.drained()


def _parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[bytes]:
    sink = _Drain()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield sink.drained()
    yield sink.drained()


class _Drain(io.RawIOBase):
    """A file that keeps what is written only until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: object) -> int:
        taken = bytes(piece)  # type: ignore[call-overload]  # pyarrow's buffers
        self._pieces.append(taken)
        self._written += len(taken)
        return len(taken)

    def tell(self) -> int:
        return self._written

    def drained(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
