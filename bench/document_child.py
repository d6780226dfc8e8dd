"""Reads every file of a folder with one library and prints JSON: `python document_child.py LIBRARY FOLDER [END]`.

Ends at once, or as Python does with the END `finalize`, which some libraries' threads do not survive.

Runs in an environment that has this library alone, so it imports nothing of ours.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OFFICE = "application/vnd.openxmlformats-officedocument"
TYPES = {
    ".docx": f"{OFFICE}.wordprocessingml.document",
    ".xlsx": f"{OFFICE}.spreadsheetml.sheet",
    ".pptx": f"{OFFICE}.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".pdf": "application/pdf",
    ".html": "text/html",
}
OPTIONS: dict[str, Any] = {"use_cache": False, "disable_ocr": True, "output_format": "markdown"}
KEEP_ALL = {"include_headers": True, "include_footers": True, "strip_repeating_text": False}

Read = Callable[[Path], str]


def kreuzberg() -> Read:
    import kreuzberg as library  # type: ignore[import-not-found,unused-ignore]

    config = library.ExtractionConfig(**OPTIONS, content_filter=library.ContentFilterConfig(**KEEP_ALL))
    return lambda file: library.extract_bytes_sync(file.read_bytes(), TYPES[file.suffix], config=config).content


def xberg() -> Read:
    import xberg as library  # type: ignore[import-not-found,unused-ignore]

    config = library.ExtractionConfig(**OPTIONS, content_filter=library.ContentFilterConfig(**KEEP_ALL))

    def read(file: Path) -> str:
        given = library.ExtractInput(kind="bytes", bytes=file.read_bytes(), mime_type=TYPES[file.suffix])
        found = asyncio.run(library.extract(given, config))
        return str(found.results[0].content) if found.results else ""

    return read


def separate() -> Read:
    """One small library for each format; none for OpenDocument and HTML."""

    def pdf(file: Path) -> str:
        from pypdfium2 import PdfDocument  # type: ignore[import-not-found,unused-ignore]

        return "\n".join(page.get_textpage().get_text_range() for page in PdfDocument(file))

    def docx(file: Path) -> str:
        from docx import Document  # type: ignore[import-not-found,unused-ignore]

        return "\n".join(paragraph.text for paragraph in Document(str(file)).paragraphs)

    def xlsx(file: Path) -> str:
        from openpyxl import load_workbook  # type: ignore[import-untyped,import-not-found,unused-ignore]

        rows = (row for sheet in load_workbook(file, read_only=True) for row in sheet.iter_rows(values_only=True))
        return "\n".join(str(cell) for row in rows for cell in row)

    def pptx(file: Path) -> str:
        from pptx import Presentation  # type: ignore[import-not-found,unused-ignore]

        slides = Presentation(str(file)).slides
        return "\n".join(shape.text_frame.text for slide in slides for shape in slide.shapes if shape.has_text_frame)

    readers = {".pdf": pdf, ".docx": docx, ".xlsx": xlsx, ".pptx": pptx}
    return lambda file: readers[file.suffix](file)


def main(library: str, folder: str, end: str = "") -> None:
    read: Read = {"kreuzberg": kreuzberg, "xberg": xberg, "separate": separate}[library]()
    found: dict[str, Any] = {}
    for file in sorted(Path(folder).iterdir()):
        start = time.perf_counter()
        try:
            text, error = read(file), None
        except Exception as problem:  # noqa: BLE001 - whatever a parser raises
            text, error = "", type(problem).__name__
        found[file.name] = {"text": text, "error": error, "seconds": time.perf_counter() - start}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"files": found, "peak": peak}), flush=True)
    if end != "finalize":
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
