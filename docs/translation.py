"""Generated tables, and their translation into Japanese."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DESCRIPTIONS = Path(__file__).parent / "ja" / "descriptions.json"
HEADS = {
    "tool": "ツール",
    "arguments (**required**)": "引数（**太字は必須**）",
    "what it does": "内容",
    "prompt": "プロンプト",
    "in the client's menu": "クライアントのメニューでの表示",
    "variable": "変数",
    "default": "既定値",
    "meaning": "意味",
    "client": "クライアント",
    "under": "キー",
    "command": "コマンド",
}
PROSE = ("what it does", "meaning")  # the columns to translate


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = ["| " + " | ".join(row) + " |\n" for row in (self.head, *self.rows)]
        return "".join([lines[0], "|---" * len(self.head) + "|\n", *lines[1:]])

    def prose(self) -> Iterator[str]:
        """The cells that a reader in another language needs translated."""
        for row in self.rows:
            yield from (cell for title, cell in zip(self.head, row, strict=True) if title in PROSE and cell)


@cache
def descriptions() -> dict[str, str]:
    """Japanese by English text: a description that was changed has no translation until that is changed too."""
    found: dict[str, str] = json.loads(DESCRIPTIONS.read_text("utf-8"))
    return found


def in_japanese(table: Table) -> Table:
    """Untranslated cells stay English; `tests/docs` reports them."""
    known = descriptions()
    rows = [
        [known.get(cell, cell) if title in PROSE else cell for title, cell in zip(table.head, row, strict=True)]
        for row in table.rows
    ]
    return Table([HEADS.get(title, title) for title in table.head], rows)


LANGUAGES: dict[str, Callable[[Table], Table]] = {"en": lambda table: table, "ja": in_japanese}
