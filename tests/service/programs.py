"""Programs of service managers that record how they are called, and files as those managers read them."""

import json
import os
import re
import stat
import sys
from configparser import RawConfigParser
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """#!{python}
import json, os, sys
folder = os.path.dirname(os.path.abspath(__file__))
words = [os.path.basename(__file__), *sys.argv[1:]]
with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as calls:
    calls.write(json.dumps(words) + "\\n")
with open(os.path.join(folder, "answers.json"), encoding="utf-8") as answers:
    for part, (code, output, error) in json.load(answers).items():
        if part in " ".join(words):
            sys.stdout.write(output)
            sys.stderr.write(error)
            sys.exit(code)
"""


@dataclass(frozen=True)
class Programs:
    """The only programs on the PATH. `answer` decides the answer to calls that contain a text; others succeed."""

    folder: Path

    def add(self, *names: str) -> None:
        for name in names:
            program = self.folder / name
            program.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (self.folder / "answers.json").write_text("{}", encoding="utf-8")

    def answer(self, part: str, code: int = 0, output: str = "", error: str = "") -> None:
        file = self.folder / "answers.json"
        answers = json.loads(file.read_text("utf-8"))
        answers.pop(part, None)
        file.write_text(json.dumps({part: [code, output, error], **answers}), encoding="utf-8")

    def calls(self) -> list[str]:
        """The calls since the last time."""
        file = self.folder / "calls.jsonl"
        if not file.exists():
            return []
        lines = [" ".join(json.loads(line)) for line in file.read_text("utf-8").splitlines()]
        file.unlink()
        return lines


@dataclass(frozen=True)
class Process:
    """What a manager starts."""

    command: list[str]
    environment: dict[str, str]
    folder: str


class Unit(RawConfigParser):
    """A unit file. Keys are case-sensitive, and `Environment` may be repeated."""

    def __init__(self, text: str) -> None:
        super().__init__(strict=False, delimiters=("=",), comment_prefixes=("#",), empty_lines_in_values=False)
        self.optionxform = str  # type: ignore[method-assign,assignment]
        self.read_string(text)
        self._lines = text.splitlines()

    def process(self) -> Process:
        environment = [line.partition("=")[2] for line in self._lines if line.startswith("Environment=")]
        return Process(
            [word.replace("$$", "$") for word in _unquoted(self["Service"]["ExecStart"])],
            dict(word.split("=", 1) for line in environment for word in _unquoted(line)),
            self["Service"]["WorkingDirectory"].replace("%%", "%"),
        )


def _unquoted(text: str) -> list[str]:
    """systemd's quoting: C escapes and doubled percent signs, in double quotes."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    unescaped = [re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), word) for word in words]
    return [word.replace("%%", "%") for word in unescaped]


def path_of(program: str) -> Path | None:
    """A program of the real machine."""
    found = [Path(folder) / program for folder in os.defpath.split(os.pathsep)]
    return next((file for file in found if file.is_file()), None)
