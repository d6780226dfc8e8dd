"""Generated histories of files in which the identity of every line is known, and what they say about an anchor.

A line is a text with an identity. Boilerplate, such as `}`, has none of its own: which of several equal lines was
deleted cannot be seen in any text. A copied line keeps its identity and gets another instance.
"""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import strategies as st

BOILERPLATE = ("}", "", "    return None", "else:")
PATHS = ("src/app.py", "src/main.py", "lib/util.py", "README.md")


@dataclass(frozen=True)
class Line:
    """`identity` is 0 for boilerplate. `instance` stays when a line is edited, so that its remains are known."""

    text: str
    identity: int
    instance: int


@dataclass
class World:
    """The files of a commit, with what it takes to make new lines."""

    files: dict[str, list[Line]] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: count(1))

    def unique(self, instance: int = 0, indent: str = "") -> Line:
        number = next(self.numbers)
        return Line(f"{indent}value_{number} = compute({number})", number, instance or number)

    def boilerplate(self, which: int) -> Line:
        return Line(BOILERPLATE[which % len(BOILERPLATE)], 0, next(self.numbers))

    def contents(self) -> dict[str, bytes]:
        return {path: "".join(f"{line.text}\n" for line in lines).encode() for path, lines in self.files.items()}

    def snapshot(self) -> dict[str, list[Line]]:
        return {path: list(lines) for path, lines in self.files.items()}


OPERATIONS = ("insert", "boilerplate", "delete", "edit", "reindent", "move", "copy", "rename", "delete_file", "shift")
Operation = tuple[str, int, int, int, int]

numbers = st.integers(0, 40)
sizes = st.integers(1, 4)
operations = st.tuples(st.sampled_from(OPERATIONS), numbers, numbers, sizes, numbers)
histories = st.lists(st.lists(operations, min_size=1, max_size=3), min_size=1, max_size=5)
shapes = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=14), min_size=1, max_size=2)


def begin(shape: list[list[int]]) -> World:
    """0 to 3 stand for boilerplate, the rest for lines of their own."""
    world = World()
    for path, kinds in zip(PATHS, shape, strict=False):
        world.files[path] = [world.boilerplate(kind) if kind < 3 else world.unique() for kind in kinds]
    return world


def apply(world: World, operation: Operation) -> None:  # noqa: C901 - one branch for each kind of change
    kind, which, at, size, to = operation
    paths = sorted(world.files)
    if not paths:
        return
    path = paths[which % len(paths)]
    lines = world.files[path]
    start = at % (len(lines) + 1)
    chosen = lines[start : start + size]
    if kind == "insert":
        lines[start:start] = [world.unique() for _ in range(size)]
    elif kind == "boilerplate":
        lines[start:start] = [world.boilerplate(to)]
    elif kind == "delete":
        del lines[start : start + size]
    elif kind == "edit":
        lines[start : start + 1] = [world.unique(line.instance) for line in chosen[:1]]
    elif kind in ("reindent", "shift"):
        respaced = [_respaced(world, line, "\t" if kind == "shift" else "    ") for line in chosen]
        lines[start : start + size] = respaced
    elif kind in ("move", "copy"):
        target = world.files[paths[to % len(paths)]]
        if kind == "move":
            del lines[start : start + size]
        moved = chosen if kind == "move" else [_copy(world, line) for line in chosen]
        place = to % (len(target) + 1)
        target[place:place] = moved
    elif kind == "rename":
        free = [name for name in PATHS if name not in world.files]
        if free:
            world.files[free[to % len(free)]] = world.files.pop(path)
    elif kind == "delete_file" and len(paths) > 1:
        del world.files[path]


def _respaced(world: World, line: Line, blank: str) -> Line:
    if not line.text.strip():
        return line
    return Line(blank + line.text, next(world.numbers) if line.identity else 0, line.instance)


def _copy(world: World, line: Line) -> Line:
    return Line(line.text, line.identity, next(world.numbers))


def is_right(
    before: dict[str, list[Line]],
    path: str,
    span: tuple[int, int],
    after: dict[str, list[Line]],
    claim: tuple[str, int],
) -> bool:
    """Whether somebody who knows every line may call the anchored lines fresh at the claimed path and first line."""
    old, new = before[path][span[0] - 1 : span[1]], after.get(claim[0], [])
    at = claim[1] - 1
    found = new[at : at + len(old)]
    if [(line.text, line.identity) for line in found] != [(line.text, line.identity) for line in old]:
        return False
    own = {line.instance for line in old if line.identity}
    if not own:
        return found == old or not _crossed(before[path], span, new, at)
    if own <= {line.instance for line in found}:
        return True
    # The claimed lines are a copy. That is a move if nothing is left of the originals.
    remains = [
        (name, number) for name, lines in after.items() for number, line in enumerate(lines) if line.instance in own
    ]
    return not remains or (
        all(name == claim[0] for name, _ in remains)
        and not any(_tells_apart(before, after, path, claim[0], number, at) for _, number in remains)
    )


def _crossed(old: list[Line], span: tuple[int, int], new: list[Line], at: int) -> bool:
    """Whether boilerplate lies on another side of an untouched line than before."""
    places = {line: number for number, line in enumerate(new) if line.identity}
    return any(
        (number < span[0] - 1) != (places[line] < at)
        for number, line in enumerate(old)
        if line in places and not span[0] - 1 <= number < span[1]
    )


def _tells_apart(
    before: dict[str, list[Line]], after: dict[str, list[Line]], path: str, place: str, remains: int, at: int
) -> bool:
    """Whether an untouched line of the old file lies between the remains of the originals and their copy. If none does,
    an edited original beside its copy is the same text as new code beside the untouched original."""
    old, new = before[path], after[place]
    texts = [line.text for line in new]
    known = {line for line in old if line.identity}
    low, high = min(remains, at), max(remains, at)
    return any(line in known and texts.count(line.text) == 1 for line in new[low + 1 : high])
