"""The comparison of two versions of a file: what is proved, what has changed and how much, what is unsure."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anchors import histories

from chie.anchors.compare import Comparison, fingerprint, split_lines, whole_file, with_fingerprint

FILE = b"import os\n\ndef a():\n    x = 1\n    return x\n\ndef b():\n    y = 2\n    return y\n"


def verdict(old: bytes, new: bytes, first: int, last: int) -> tuple[str, str, int, int]:
    found = Comparison(split_lines(old), split_lines(new)).verdict(first, last)
    return found.state, found.detail, found.first, found.last


@pytest.mark.req("MT-4")
@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (FILE, ("fresh", "same", 3, 5)),
        (FILE.replace(b"\n", b"\r\n"), ("fresh", "same", 3, 5)),
        (b"# new\n" + FILE, ("fresh", "moved", 4, 6)),
        (FILE.replace(b"y = 2", b"y = 3"), ("fresh", "same", 3, 5)),
        (FILE.replace(b"    x = 1", b"        x = 1"), ("changed", "whitespace", 3, 5)),
        (FILE.replace(b"x = 1", b"x = 7"), ("changed", "edited", 3, 5)),
        (FILE.replace(b"    x = 1\n", b"    x = 1\n    print(x)\n"), ("changed", "edited", 3, 6)),
        (FILE.replace(b"def a():\n    x = 1\n    return x\n", b""), ("gone", "deleted", 0, 0)),
        (FILE.replace(b"def a():\n    x = 1\n    return x\n", b"A = 1\n"), ("changed", "edited", 3, 3)),
        (FILE + b"def a():\n    x = 1\n    return x\n", ("unknown", "duplicated", 0, 0)),
        (
            b"import os\n\ndef b():\n    y = 2\n    return y\n\ndef a():\n    x = 1\n    return x\n",
            ("fresh", "moved", 7, 9),
        ),
        (b"", ("gone", "deleted", 0, 0)),
    ],
)
def test_what_has_become_of_a_function(new: bytes, expected: tuple[str, str, int, int]) -> None:
    found = verdict(FILE, new, 3, 5)
    assert found[:2] == expected[:2]
    assert found[2:] == expected[2:] or expected[:2] == ("changed", "edited")


@pytest.mark.req("MT-4")
def test_a_copy_whose_original_was_edited_is_not_fresh() -> None:
    """The copy is at the end, and the original, now edited, where it was."""
    new = FILE.replace(b"x = 1", b"x = 7").replace(b"return x", b"return x + 1").replace(b"def a", b"def a2")
    new += b"def a():\n    x = 1\n    return x\n"
    assert verdict(FILE, new, 3, 5)[:2] == ("unknown", "unsure")


@pytest.mark.req("MT-4")
def test_boilerplate_is_known_by_what_is_around_it() -> None:
    old = b"a\n}\nb\n}\nc\n"
    assert verdict(old, b"new\na\n}\nb\n}\nc\n", 2, 2) == ("fresh", "moved", 3, 3)
    assert verdict(old, b"a\nb\n}\nc\n", 2, 2)[0] != "fresh"
    assert verdict(b"}\n}\n", b"}\n", 1, 1)[0] != "fresh"


def test_the_share_of_changed_lines() -> None:
    old = b"".join(b"line %d\n" % number for number in range(10))
    half = old.replace(b"line 3", b"other 3").replace(b"line 4", b"other 4").replace(b"line 5", b"other 5")
    half = half.replace(b"line 6", b"other 6")
    found = Comparison(split_lines(old), split_lines(half)).verdict(1, 10)
    assert (found.state, found.changed) == ("changed", 0.4)
    found = Comparison(split_lines(old), split_lines(half)).verdict(4, 7)
    assert (found.state, found.changed, found.first, found.last) == ("changed", 1.0, 4, 7)


def test_whole_files() -> None:
    assert whole_file([b"a", b"b"], [b"a", b"b"])[:3] == ("fresh", "same", 0.0)
    assert whole_file([b"a", b"b"], [b"a", b"c"])[:3] == ("changed", "edited", 0.5)
    assert whole_file([b"a", b"b"], [b"a", b"  b"])[:3] == ("changed", "whitespace", 0.0)


def test_without_the_commit_only_the_same_place_is_proof() -> None:
    lines = [b"a", b"b", b"c"]
    assert with_fingerprint(fingerprint([b"b"]), 2, 2, lines)[0] == "fresh"
    assert with_fingerprint(fingerprint([b"c"]), 2, 2, lines) == ("unknown", "unsure", None, 3, 3)
    assert with_fingerprint(fingerprint([b"a"]), 1, 1, [b"a", b"a"])[:2] == ("unknown", "duplicated")
    assert with_fingerprint(fingerprint([b"x"]), 1, 1, lines)[:2] == ("unknown", "commit_unknown")


@pytest.mark.req("MT-4")
@settings(max_examples=500, deadline=None)
@given(histories.shapes, histories.histories, st.integers(0, 13), st.integers(1, 5))
def test_no_false_fresh_in_one_file(
    shape: list[list[int]], history: list[list[histories.Operation]], at: int, size: int
) -> None:
    world = histories.begin(shape[:1])
    before, path = world.snapshot(), histories.PATHS[0]
    first = at % len(before[path]) + 1
    last = min(first + size - 1, len(before[path]))
    for operation in [one for commit in history for one in commit if one[0] not in ("rename", "delete_file")]:
        histories.apply(world, operation)
    old = [line.text.encode() for line in before[path]]
    new = [line.text.encode() for line in world.files[path]]
    found = Comparison(old, new).verdict(first, last)
    if found.state == "fresh":
        assert new[found.first - 1 : found.last] == old[first - 1 : last]
        assert histories.is_right(before, path, (first, last), world.files, (path, found.first)), (old, new)
    if world.files[path] == before[path]:
        assert found.state == "fresh"
