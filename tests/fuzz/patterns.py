"""Every regular expression of Chie, and texts that make a careless one slow.

Patterns are read from the modules, so that a new one is attacked too: those that modules hold once they are loaded,
and literals in calls such as `re.sub(r"…", …)`. Texts repeat what the pattern repeats and matches, and then fail.
"""

import ast
import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as op
from re import _parser as parser
from types import ModuleType
from typing import Any

import chie

NOT_LOADED = ("chie.chat.sessions.migrations", "chie.__main__")  # run by Alembic; starts the command line
ANCHORED = {"match": "match", "fullmatch": "fullmatch"}
SCANNING = dict.fromkeys(("search", "sub", "subn", "split", "findall", "finditer"), "finditer")
METHODS = ANCHORED | SCANNING
MAX_PARTS = 12
PROBES = (24, 256, 2_048)  # characters: an exponential pattern shows at the first, a quadratic one at the last
PROBED_SECONDS = 0.02
SUFFIXES = ("", "\x00")
COMMON = "a0 .\n_-/:'\"<あ漢)]}\\\x1b"
CLASSIC = (
    *" \n\t\ra0A_-./\\:,;'\"`<>()[]{}=#*|&@$%!?~あア漢。「」ｱé\u200b😀",
    *("\x1b]", "\x1b[", "<!--", "/*", "```", "\n---\n", "a.", "a-", "a/", "../", "0:", "a=", "='", '="', "[[", "]("),
    *("<a ", "://", "a@", '\\"', "\n ", " \n", "aA", "a1", "ab ", "a_", "{{", "}}", "${", "data:", "e\u0301"),
)


@dataclass(frozen=True)
class Found:
    """A pattern, where it was found, and how it is used: from the start of a text or anywhere in it."""

    module: str
    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True)
class Attack:
    prefix: str
    pump: str
    suffix: str

    def text(self, size: int) -> str:
        times = max(1, (size - len(self.prefix) - len(self.suffix)) // len(self.pump))
        return (self.prefix + self.pump * times)[: size - len(self.suffix)] + self.suffix


@cache
def modules() -> dict[str, ModuleType]:
    names = [one.name for one in pkgutil.walk_packages(chie.__path__, "chie.")]
    return {name: importlib.import_module(name) for name in names if not name.startswith(NOT_LOADED)}


@cache
def patterns() -> list[Found]:
    """Each once, where it was found first."""
    found: dict[tuple[Any, int], Found] = {}
    for one in (*_loaded(), *_literals()):
        found.setdefault((one.pattern.pattern, one.pattern.flags), one)
    return list(found.values())


def dynamic() -> set[str]:
    """Modules that build a pattern from a value."""
    calls = ((name, call) for name, tree in _trees() for call in _calls(tree))
    return {name for name, call in calls if call.args and not isinstance(call.args[0], ast.Constant | ast.JoinedStr)}


def slowest(pattern: re.Pattern[Any], methods: Iterable[str], size: int, seconds: float) -> tuple[float, str]:
    """The most processor time that a text of this size takes, and that text; the first one that takes too long."""
    probed = []
    for attack in attacks(pattern):
        for length in PROBES:
            taken = _time(pattern, methods, attack.text(min(length, size)), PROBED_SECONDS)
            if taken > min(PROBED_SECONDS, seconds):
                return taken, f"{attack} at {length}"
        probed.append((taken, attack))
    worst = (0.0, "")
    for _, attack in sorted(probed, key=lambda one: -one[0])[:3]:
        for length in sorted({min(32_768, size), min(131_072, size), size}):
            worst = max(worst, (_time(pattern, methods, attack.text(length), seconds), f"{attack} at {length}"))
            if worst[0] > seconds:
                return worst
    return worst


def attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = list(parser.parse(text, pattern.flags & ~(0 if isinstance(pattern.pattern, str) else re.UNICODE)))
    choice = random.Random(7)  # noqa: S311 - the same texts every time
    letters = _some(_letters(tree))
    pumps = [("", pump) for pump in (*CLASSIC, *letters)]
    pumps += [("", "".join(choice.choices(letters, k=3))) for _ in range(8) if letters]
    for before, body in _some(_repeats(tree)):
        start, repeated = _sample(before, choice), _sample(body, choice)
        pumps += [(start, repeated), ("", start + repeated), ("", start)]
    for _ in range(3):
        whole = _sample(tree, choice)
        pumps += [("", whole), ("", whole[:-1]), ("", f"{whole}\n")]
    distinct = dict.fromkeys(pump for pump in pumps if pump[1])
    return [Attack(start, pump, suffix) for (start, pump), suffix in product(distinct, SUFFIXES)]


def _time(pattern: re.Pattern[Any], methods: Iterable[str], text: str, limit: float) -> float:
    """Twice if it took too long: a busy machine may be slow for a moment."""
    given = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
    taken = _time_once(pattern, methods, given)
    return taken if taken <= limit else min(taken, _time_once(pattern, methods, given))


def _time_once(pattern: re.Pattern[Any], methods: Iterable[str], text: str | bytes) -> float:
    before = time.process_time()
    for method in methods:
        found = getattr(pattern, method)(text)
        if method == "finditer":
            for _ in found:
                pass
    return time.process_time() - before


def _some(items: list[Any]) -> list[Any]:
    return items[:: len(items) // MAX_PARTS + 1]


def _loaded() -> Iterator[Found]:
    used = _uses()
    for module, loaded in modules().items():
        for name, value in vars(loaded).items():
            for pattern in _inside(value):
                direct = used.get((module, name)) if isinstance(value, re.Pattern) and name[0] == "_" else None
                yield Found(module, name, pattern, frozenset(direct or METHODS.values()))


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 6 and isinstance(value, dict):
        yield from (found for item in value.values() for found in _inside(item, depth + 1))
    elif depth < 6 and isinstance(value, list | tuple | set | frozenset):
        yield from (found for item in value for found in _inside(item, depth + 1))
    elif depth < 6 and type(value).__module__.startswith("chie."):
        fields = (*getattr(value, "__dict__", {}).values(), *_slots(value))
        yield from (found for item in fields for found in _inside(item, depth + 1))
    elif depth < 6 and isinstance(value, type) and value.__module__.startswith("chie."):
        yield from (found for item in list(vars(value).values()) for found in _inside(item, 6))


def _slots(value: Any) -> Iterator[Any]:
    yield from (getattr(value, name, None) for name in getattr(type(value), "__slots__", ()))


def _uses() -> dict[tuple[str, str], set[str]]:
    """The methods by module and name of a pattern; all of them for a name that is passed on."""
    found: dict[tuple[str, str], set[str]] = {}
    for module, tree in _trees():
        called = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
                called.add(id(node.value))
                found.setdefault((module, node.value.id), set()).add(METHODS[node.attr])
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                found.setdefault((module, node.id), set()).update(METHODS.values())
    return found


def _literals() -> Iterator[Found]:
    for module, tree in _trees():
        for call in _calls(tree):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and call.func.attr in METHODS:  # type: ignore[attr-defined]
                method = METHODS[call.func.attr]  # type: ignore[attr-defined]
                yield Found(module, f"line {call.lineno}", re.compile(first.value), frozenset({method}))


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "re":
            yield node


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    paths = {name: Path(module.__file__ or "") for name, module in modules().items()}
    return [(name, ast.parse(path.read_text("utf-8"))) for name, path in paths.items()]


def _branches(code: Any, value: Any) -> list[list[Any]]:
    """The parts inside a part of a pattern."""
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [list(value[2])]
    if code is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if code is op.SUBPATTERN:
        return [list(value[3])]
    if code is op.ATOMIC_GROUP:
        return [list(value)]
    return [list(value[1])] if code in (op.ASSERT, op.ASSERT_NOT) else []


def _repeats(tree: list[Any], before: tuple[Any, ...] = ()) -> list[tuple[list[Any], list[Any]]]:
    """What comes before each repetition, and what it repeats."""
    found: list[tuple[list[Any], list[Any]]] = []
    for number, (code, value) in enumerate(tree):
        prefix = (*before, *tree[:number])
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[1] >= 8:
            found.append((list(prefix), list(value[2])))
        for branch in _branches(code, value):
            found += _repeats(branch, prefix)
    return found


def _letters(tree: list[Any]) -> list[str]:
    found = []
    for code, value in tree:
        if code is op.LITERAL:
            found.append(chr(value))
        elif code is op.IN:
            found += _members(value)
        for branch in _branches(code, value):
            found += _letters(branch)
    return list(dict.fromkeys(found))


def _members(items: list[Any]) -> list[str]:
    """Some characters of a class."""
    named = [chr(end) for code, value in items if code in (op.LITERAL, op.RANGE) for end in _ends(value)]
    return [one for one in dict.fromkeys([*named, *COMMON]) if _is_member(items, one)][:6]


def _ends(value: Any) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_member(items: list[Any], letter: str) -> bool:
    tests = {"DIGIT": letter.isdigit(), "SPACE": letter.isspace(), "WORD": letter.isalnum() or letter == "_"}
    negated = items[0][0] is op.NEGATE
    for code, value in items[negated:]:
        if code is op.CATEGORY:
            kind = str(value).removeprefix("CATEGORY_")
            inside = tests[kind.removeprefix("NOT_")] is not kind.startswith("NOT_")
        else:
            inside = _ends(value)[0] <= ord(letter) <= _ends(value)[-1]
        if inside:
            return not negated
    return bool(negated)


def _sample(tree: list[Any], choice: random.Random) -> str:
    return "".join(_sample_of(code, value, choice) for code, value in tree)


def _sample_of(code: Any, value: Any, choice: random.Random) -> str:
    if code is op.LITERAL:
        return chr(value)
    if code in (op.ANY, op.NOT_LITERAL):
        return choice.choice("a 0.")
    if code is op.IN:
        return choice.choice(_members(value) or ["a"])
    if code in (op.ASSERT, op.ASSERT_NOT, op.AT, op.GROUPREF) or not (branches := _branches(code, value)):
        return ""
    times = min(max(value[0], 1), 64) if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) else 1
    return "".join(_sample(choice.choice(branches), choice) for _ in range(times))
