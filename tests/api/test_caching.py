from api.caching import Bounded


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
