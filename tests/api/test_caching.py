from pathlib import Path

from api.caching import Bounded, Disk


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    memory: Bounded[str] = Bounded(30)
    for key in ("a", "b", "c"):
        memory.put(key, key.upper(), size=10)
    assert memory.get("a") == "A"
    memory.put("d", "D", size=10)
    assert [memory.get(key) for key in "abcd"] == ["A", None, "C", "D"]


def test_a_value_larger_than_the_bound_is_not_kept_and_displaces_nothing() -> None:
    memory: Bounded[str] = Bounded(30)
    memory.put("a", "A", size=30)
    memory.put("b", "B", size=31)
    assert [memory.get(key) for key in "ab"] == ["A", None]


def test_a_value_put_twice_is_counted_once() -> None:
    memory: Bounded[str] = Bounded(30)
    for _ in range(5):
        memory.put("a", "A", size=20)
    memory.put("b", "B", size=10)
    assert [memory.get(key) for key in "ab"] == ["A", "B"]


def test_the_folder_of_answers_stays_below_its_bound(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "answers", most_bytes=10_000)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/.half").write_bytes(bytes(3000))  # left by a process that was killed
    for number in range(50):
        disk.put(str(number), bytes(1000))
    assert sum(path.stat().st_size for path in (tmp_path / "answers").iterdir()) <= 10_000
    assert disk.get("49") == bytes(1000)
    assert disk.get("0") is None
    assert not (tmp_path / "answers/.half").exists()
