import hyperframe.frame
from hypothesis import given
from hypothesis import strategies as st

from localweb.serving import frames


def data(stream: int, body: bytes, padding: int) -> hyperframe.frame.Frame:
    frame = hyperframe.frame.DataFrame(stream, body, pad_length=padding)
    if padding:
        frame.flags.add("PADDED")
    return frame


def headers(stream: int, block: bytes, padding: int) -> hyperframe.frame.Frame:
    frame = hyperframe.frame.HeadersFrame(stream, block, pad_length=padding)
    if padding:
        frame.flags.add("PADDED")
    return frame


FRAMES = st.one_of(
    st.builds(data, st.integers(1, 99), st.binary(max_size=50), st.integers(0, 9)),
    st.builds(headers, st.integers(1, 99), st.binary(max_size=50), st.integers(0, 9)),
    st.builds(hyperframe.frame.ContinuationFrame, st.integers(1, 99), st.binary(max_size=50)),
    st.builds(lambda octets: hyperframe.frame.PingFrame(0, octets), st.binary(min_size=8, max_size=8)),
    st.builds(lambda stream: hyperframe.frame.RstStreamFrame(stream, 8), st.integers(1, 99)),
)


@given(st.lists(FRAMES, max_size=8), st.integers(0, 30))
def test_frames_are_measured_as_hyperframe_writes_them(
    written: list[hyperframe.frame.Frame], cut: int
) -> None:
    octets = [frame.serialize() for frame in written]
    whole = b"".join(octets)
    frames_read = list(frames.scan(whole[: max(0, len(whole) - cut)]))

    expected = [
        (
            frame.type,
            frame.stream_id,
            len(piece),
            len(frame.data) if isinstance(frame, hyperframe.frame.DataFrame) else 0,
        )
        for frame, piece in zip(written, octets, strict=True)
    ]
    assert [tuple(frame) for frame in frames_read] == expected[: len(frames_read)]
    left = sum(len(octet) for octet in octets[len(frames_read) :])
    assert (left == 0) if cut == 0 else (left >= min(cut, len(whole)))


def test_only_header_and_data_frames_belong_to_a_response() -> None:
    kinds = [kind for kind in range(12) if frames.HttpFrame(kind, 1, 9, 0).is_of_response]

    assert kinds == [frames.DATA, frames.HEADERS, frames.CONTINUATION]
