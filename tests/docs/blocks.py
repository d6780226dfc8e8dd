"""Commands shown in the documentation, page by page, as a reader would paste them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").glob("*.md")])
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```", re.DOTALL | re.MULTILINE)
ASSIGNMENT = re.compile(r"^(?:export )?(?P<name>[A-Z][A-Z0-9_]*)=")
COMMENT = re.compile(r"(?:^|\s)# .*$")


@dataclass(frozen=True)
class Shown:
    """One command, with continuation lines joined and comments removed."""

    page: Path
    text: str

    @property
    def program(self) -> str:
        words = [word for word in self.text.split() if not ASSIGNMENT.match(word)]
        return words[0].rsplit("/", 1)[-1] if words else ""

    @property
    def variables(self) -> list[str]:
        """Names assigned by a line that only sets variables."""
        return [] if self.program not in ("", "export") else re.findall(r"\b([A-Z][A-Z0-9_]*)=", self.text)

    def __str__(self) -> str:
        return f"{self.page.name}: {self.text}"


def commands() -> list[Shown]:
    return [
        Shown(page, line)
        for page in PAGES
        for block in FENCE.finditer(page.read_text("utf-8"))
        if block["kind"].split()[:1] == ["sh"]
        for line in _lines(block["body"])
    ]


def unmarked() -> list[str]:
    """Code blocks without a language, for which it is unclear whether their lines are commands."""
    return [
        f"{page.name}: {block['body'].splitlines()[0]}"
        for page in PAGES
        for block in FENCE.finditer(page.read_text("utf-8"))
        if not block["kind"].strip() or block["kind"].split()[0] in ("console", "bash", "shell")
    ]


def _lines(body: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", "", body)
    return [line for raw in joined.splitlines() if (line := COMMENT.sub("", raw).strip())]
