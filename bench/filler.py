"""Paragraphs of installed documentation, which stand for the unrelated notes of a large store."""

import ast
import gzip
import json
import random
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

MAN_PAGES = Path("/usr/share/man")
MIN_LENGTH, MAX_LENGTH = 70, 600
_MACRO = re.compile(r"\.(\w+)\s*(.*)")
_BREAKS = frozenset("SH SS PP P LP TP IP HP sp Pp Sh It".split())
_FONTS = frozenset("B I BR BI IR RB RI IB".split())
_ESCAPES = re.compile(r"\\f[BIRP]|\\f\(..|\\[&/,%]")


def fillers(count: int, file: Path | None = None) -> list[str]:
    """From a JSON list, or from what is installed: man pages in both languages and docstrings."""
    found = json.loads(file.read_text("utf-8")) if file else _installed()
    if len(found) < count:
        have = f"{len(found):,} paragraphs of documentation are installed, and {count:,} are needed"
        sys.exit(f"{have}: name a JSON list of texts with --filler FILE.")
    return list(found[:count])


def _installed() -> list[str]:
    """In an order that is the same in every run."""
    found = sorted({*_man_pages(), *_docstrings()})
    random.Random(1).shuffle(found)
    return found


def _man_pages() -> Iterator[str]:
    for folder in (MAN_PAGES, MAN_PAGES / "ja"):
        for path in folder.glob("man*/*.gz"):
            yield from _paragraphs(_plain(gzip.decompress(path.read_bytes()).decode("utf-8", "ignore")))


def _plain(roff: str) -> str:
    lines = []
    for line in roff.splitlines():
        macro = _MACRO.match(line)
        if macro and macro[1] in _BREAKS:
            lines.append("\n")
        elif macro and macro[1] in _FONTS:
            lines.append(macro[2].replace('"', ""))
        elif not line.startswith((".", "'")):
            lines.append(line)
    return _ESCAPES.sub("", "\n".join(lines)).replace("\\-", "-")


def _docstrings() -> Iterator[str]:
    for name in ("stdlib", "purelib"):
        for path in Path(sysconfig.get_path(name)).glob("**/*.py"):
            try:
                tree = ast.parse(path.read_text("utf-8"))
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _paragraphs(ast.get_docstring(node) or "")


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text):
        paragraph = "\n".join(" ".join(line.split()) for line in part.strip().splitlines())
        if MIN_LENGTH <= len(paragraph) <= MAX_LENGTH and "\\" not in paragraph:
            yield paragraph
