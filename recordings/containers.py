"""Takes a recording out of the container that its recorder used: gzip, whatever the file's name,
a zip such as Playwright's, or none."""

from crawler import containers
from recordings.exchange import RecordingError

MOST_BYTES = 128 * 1024 * 1024
"""Most bytes of a recording after decompression: its memory is some twenty times as much at worst."""

OTHER_CONTAINERS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"PAR1": "Parquet",
}


def unpack(content: bytes, name: str, *, most_bytes: int | None = None) -> bytes:
    most = most_bytes or MOST_BYTES
    try:
        content = containers.unpack(content, most_bytes=most, suffix=".har")
    except containers.DamagedContainer as exc:
        raise RecordingError(
            f"{name} cannot be unpacked: the file is damaged, cut short or encrypted"
        ) from exc
    except containers.AmbiguousZip as exc:
        raise RecordingError(f"{name} is a zip file with {exc} recordings in it: unpack it") from exc
    if len(content) > most:
        raise RecordingError(
            f"{name} has more than {most // 2**20} MiB: record it without the content of responses"
        )
    for magic, form in OTHER_CONTAINERS.items():
        if content.startswith(magic):
            raise RecordingError(f"{name} is a {form} file: unpack it")
    return content
