"""Media that a browser can play, of any length."""

import struct

RATE = 44_100
CHANNELS = 2
SAMPLE_BYTES = 2


def make_recording(*, seconds: int) -> bytes:
    """Return silence as WAV: PCM of 176 kB a second."""
    data = bytes(seconds * RATE * CHANNELS * SAMPLE_BYTES)
    block = CHANNELS * SAMPLE_BYTES
    form = struct.pack("<HHIIHH", 1, CHANNELS, RATE, RATE * block, block, 8 * SAMPLE_BYTES)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks
