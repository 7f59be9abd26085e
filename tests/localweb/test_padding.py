import gzip
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localweb import padding

MARKS = {"opening": b"/*", "closing": b"*/"}


@given(core=st.binary(max_size=400), size=st.integers(0, 20_000))
def test_gzip_has_the_size_asked_for_or_is_refused(core: bytes, size: int) -> None:
    packed = padding.gzip_exactly(core, size, **MARKS)

    if packed is None:
        assert size < len(padding.gzip_least(core))
    else:
        assert len(packed) == size
        text = gzip.decompress(packed)
        assert text == core or (text.startswith(core + b"/*") and text.endswith(b"*/"))


@settings(max_examples=20)
@given(size=st.integers(5_000, 1_000_000))
def test_filled_gzip_expands_about_as_text_on_the_web_does(size: int) -> None:
    packed = padding.gzip_exactly(b"x=1", size, **MARKS)

    assert packed is not None
    assert len(packed) == size
    assert 1.3 < len(gzip.decompress(packed)) / size < 4


def test_the_filling_never_closes_a_comment() -> None:
    words, _ = padding.make_filling()

    assert set(words.decode()) <= set("abcdefghijklmnopqrstuvwxyz ")


@given(core=st.binary(min_size=1, max_size=40), size=st.integers(0, 100))
def test_plain_text_has_the_size_asked_for_or_is_refused(core: bytes, size: int) -> None:
    plain = padding.text_exactly(core, size, **MARKS)

    if plain is None:
        assert size != len(core)
        assert size < len(core) + 4
    else:
        assert len(plain) == size
        assert plain.startswith(core)


@given(size=st.integers(0, 300))
def test_an_image_has_the_size_asked_for(size: int) -> None:
    media_type, pixels = padding.image(size)

    assert len(pixels) == size
    if media_type == "image/png":
        assert pixels.startswith(b"\x89PNG")
    elif size >= 43:
        assert pixels.startswith(b"GIF89a")


def test_the_smallest_png_is_valid() -> None:
    octets = padding.png()[8:]
    names = []
    while octets:
        (length,) = struct.unpack(">I", octets[:4])
        name, content, checksum = octets[4:8], octets[8 : 8 + length], octets[8 + length : 12 + length]
        assert struct.pack(">I", zlib.crc32(name + content)) == checksum
        names.append(name)
        octets = octets[12 + length :]
    assert names == [b"IHDR", b"IDAT", b"IEND"]


@pytest.mark.parametrize("size", [0, 1, 70_000])
def test_noise_is_the_same_for_the_same_seed_and_does_not_compress(size: int) -> None:
    noise = padding.noise(size, seed=3)

    assert len(noise) == size
    assert noise == padding.noise(size, seed=3)
    assert len(zlib.compress(noise)) >= size
