"""Takes a file out of gzip or a zip; what comes out is bounded, since files from outside are hostile."""

import gzip
import io
import lzma
import struct
import zipfile
import zlib

from crawler.errors import CrawlerError

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"


DAMAGE = (
    *(EOFError, OSError, RuntimeError, ValueError, LookupError, OverflowError),
    *(zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile),
)
"""Exceptions of Python's libraries for damaged files: of a zip, also for names, offsets and methods."""


class DamagedContainer(CrawlerError):
    """A file is damaged, cut short or encrypted."""


class AmbiguousZip(CrawlerError):
    """A zip holds another number of files than one; the message is that number."""


def unpack(content: bytes, *, most_bytes: int, suffix: str = "") -> bytes:
    """Return the bytes of a file without its container, up to one more than `most_bytes` of what is packed.

    Of a zip it is the only file with this suffix, or the only file. DamagedContainer, AmbiguousZip.
    """
    try:
        if content.startswith(GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                return file.read(most_bytes + 1)
        if content.startswith(ZIP):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [member.filename for member in archive.infolist() if not member.is_dir()]
                wanted = [member for member in members if suffix and member.endswith(suffix)] or members
                if len(wanted) != 1:
                    raise AmbiguousZip(str(len(wanted)))
                with archive.open(wanted[0]) as member:
                    return member.read(most_bytes + 1)
    except DAMAGE as exc:
        raise DamagedContainer from exc
    return content
