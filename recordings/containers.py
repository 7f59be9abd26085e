"""Takes a recording out of the container that its recorder used: gzip, whatever the file's name,
a zip such as Playwright's, or none."""

import io
import zipfile
import zlib

from recordings.errors import RecordingError

MOST_BYTES = 128 * 1024 * 1024
"""Most bytes of a recording after decompression: its memory is some twenty times as much at worst."""

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"

OTHER_CONTAINERS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"PAR1": "Parquet",
}
"""First bytes of files of other forms."""


def unpack(content: bytes, name: str, *, most_bytes: int | None = None) -> bytes:
    """Return the bytes of a recording without its container, of at most MOST_BYTES or `most_bytes`."""
    most = most_bytes or MOST_BYTES
    try:
        if content.startswith(GZIP):
            content = inflate(content, most)
        elif content.startswith(ZIP):
            content = unzip(content, name, most)
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as exc:
        raise RecordingError(
            f"{name} cannot be unpacked: the file is damaged, cut short or encrypted"
        ) from exc
    if len(content) > most:
        raise RecordingError(
            f"{name} has more than {most // 2**20} MiB: record it without the content of responses"
        )
    for magic, form in OTHER_CONTAINERS.items():
        if content.startswith(magic):
            raise RecordingError(f"{name} is a {form} file: unpack it")
    return content


def inflate(content: bytes, most: int) -> bytes:
    """Return the content of a gzip file, up to a byte more than `most`; EOFError if it is cut short."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    unpacked = unpacker.decompress(content, most + 1)
    if not unpacker.eof and len(unpacked) <= most:
        raise EOFError
    return unpacked


def unzip(content: bytes, name: str, most: int) -> bytes:
    """Return the recording in a zip file, up to a byte more than `most`: its .har, or its only file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member.filename for member in archive.infolist() if not member.is_dir()]
        wanted = [member for member in members if member.endswith(".har")] or members
        if len(wanted) != 1:
            raise RecordingError(f"{name} is a zip file with {len(wanted)} recordings in it: unpack it")
        with archive.open(wanted[0]) as file:
            return file.read(most + 1)
