"""Libraries that read documents, on the same files: text kept, time, memory, size, and what they do to the machine.

Not part of `make bench`: it installs the libraries, each in an environment of its own. The choice is in
`docs/decisions/0035-document-library.md`.

    python -m bench.documents

The files are two pages of our documentation, in English and in Japanese, as Chromium prints them (plain, in two
columns, and vertical in Japanese), and as Office, OpenDocument and HTML files. A share of 1 keeps every three
characters that follow each other in the original, without white space.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from html import escape
from pathlib import Path
from statistics import mean, median
from typing import Any

from tests.e2e.browser import browser
from tests.fakes.office_files import docx, odt, pptx, xlsx
from tests.privacy.environment import bare_environment
from tests.privacy.syscalls import reason_not_to_watch, recorded, watching

from bench.figure import Figure
from bench.size import MB, files
from bench.table import SHARE, table

ROOT = Path(__file__).parents[1]
LIBRARIES = {
    "kreuzberg": ("kreuzberg==4.10.4",),
    "xberg": ("xberg==1.3.9",),
    "separate": ("pypdfium2==5.*", "python-docx==1.2.0", "openpyxl==3.1.5", "python-pptx==1.0.2"),
}
SOURCES = {"en": ROOT / "docs" / "memory.md", "ja": ROOT / "docs" / "ja" / "memory.md"}
STYLES = {
    "plain": "",
    "columns": "columns: 2;",
    "vertical": "writing-mode: vertical-rl;",
}
CHILD = Path(__file__).with_name("document_child.py")
PARAGRAPHS = 120
ROUNDS = 5
ENDS = 60


def paragraphs(language: str) -> list[str]:
    """Sentences without Markdown, so that each library has to keep the same characters."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", SOURCES[language].read_text("utf-8"), flags=re.DOTALL)
    plain = re.sub(r"[`*#|<>\[\]_\\-]|\(\S+\)", "", text)
    return [" ".join(line.split()) for line in plain.splitlines() if len(line.strip()) > 20][:PARAGRAPHS]


def write_files(folder: Path) -> None:
    for language in SOURCES:
        texts = paragraphs(language)
        escaped = [escape(text, quote=False) for text in texts]
        page = "".join(f"<p>{text}</p>" for text in escaped)
        body = f"<!doctype html><html lang={language}><meta charset=utf-8><body>{page}</body></html>"
        made = {"docx": docx(*escaped), "odt": odt(*escaped), "pptx": pptx(*escaped), "html": body.encode()}
        made["xlsx"] = xlsx([[text] for text in escaped])
        for suffix, data in made.items():
            (folder / f"{language}.{suffix}").write_bytes(data)
        _print_pages(folder, language, body)


def _print_pages(folder: Path, language: str, body: str) -> None:
    with browser() as opened:
        page = opened.new_page()
        for name, style in STYLES.items():
            if name != "vertical" or language == "ja":
                page.set_content(body.replace("<body>", f'<body style="{style}">'))
                page.pdf(path=folder / f"{language}-{name}.pdf", format="A4")


def kept(language: str, text: str) -> float:
    original, read = (_triples("".join(found.split())) for found in ("".join(paragraphs(language)), text))
    return len(original & read) / len(original)


def _triples(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def install(folder: Path, packages: tuple[str, ...]) -> Path:
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, *packages], check=True, stderr=subprocess.DEVNULL)
    return python


def measure(library: str, python: Path, documents: Path, folder: Path) -> Iterator[Figure]:
    command = [str(python), str(CHILD), library, str(documents)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    read = found["files"]
    kinds = {"PDF": "*.pdf", "Office, OpenDocument, HTML": "*.[dopxh][!d]*"}
    for language in SOURCES:
        for kind, pattern in kinds.items():
            names = [file.name for file in documents.glob(f"{language}{pattern}")]
            share = mean(kept(language, read[name]["text"]) for name in names)
            yield Figure(f"text kept, {kind}, {language}", library, share, SHARE)
    yield Figure("all files in one process", library, sum(one["seconds"] for one in read.values()) * 1000, "ms")
    alone = folder / "one"
    alone.mkdir()
    (alone / "ja.pdf").write_bytes((documents / "ja-plain.pdf").read_bytes())
    one = [str(python), str(CHILD), library, str(alone)]
    yield Figure("a process for one PDF", library, _seconds(one) * 1000, "ms")
    small = folder / "small"
    small.mkdir()
    (small / "a.docx").write_bytes(docx("請求書"))
    crashed = _crashes([str(python), str(CHILD), library, str(small), "finalize"])
    yield Figure(f"of {ENDS} processes for a small file, crashed at their end", library, crashed)
    yield Figure("peak memory", library, found["peak"] / MB, "MB")
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    yield Figure("installed", library, sum(state.st_size for _, state in files(packages)) / MB, "MB")
    yield from _watched(library, command, folder)


def _seconds(command: list[str]) -> float:
    """What Chie pays for a file: a new process, the import and the file."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def _crashes(command: list[str]) -> int:
    return sum(subprocess.run(command, capture_output=True, check=False).returncode != 0 for _ in range(ENDS))


def _watched(library: str, command: list[str], folder: Path) -> Iterator[Figure]:
    names = ("connections to other machines", "files left or changed")
    if why := reason_not_to_watch():
        yield from (Figure(name, library, None, why=why) for name in names)
        return
    (folder / "record").mkdir()
    subprocess.run(
        watching(folder / "record", command), env=bare_environment(folder), check=True, stdout=subprocess.DEVNULL
    )
    record = recorded(folder / "record")
    yield Figure(names[0], library, len(record.outside()))
    yield Figure(names[1], library, len(record.changed))


def main() -> list[Figure]:
    argparse.ArgumentParser(prog="bench.documents", description=__doc__).parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        documents = Path(temporary) / "documents"
        documents.mkdir()
        write_files(documents)
        found: list[Figure] = []
        for library, packages in LIBRARIES.items():
            folder = Path(temporary) / library
            folder.mkdir()
            found += measure(library, install(folder / "environment", packages), documents, folder)
        return found


if __name__ == "__main__":
    print(table(main()))
