"""Every figure that a page shows says when it was measured, and on how busy a machine."""

import re

from bench.figure import Figure, Group, read
from bench.summary import quality, summary
from docs.requirement_table import ROOT

PART = re.compile(r"<!-- generated: figures \S+ -->\n(.*?)<!-- end -->", re.DOTALL)
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def test_summary_has_the_day_and_the_load_of_each_figure() -> None:
    figure = Figure("memory, idle", "Chie", 90.0, "MB", aim=100)
    group = Group("", [figure], when="2026-11-20 10:00", machine="2 cores, load 0.3, Python 3.11.7")
    assert "| app, idle memory before the first question | 90 MB | 100 MB | 2026-11-20, load 0.3 |" in summary(
        {"chat": group}
    )


def test_quality_has_a_date() -> None:
    assert DATE.search(quality(read()))


def test_every_generated_block_of_figures_has_a_date() -> None:
    pages = [ROOT / "README.md", ROOT / "README.ja.md", *(ROOT / "docs").rglob("*.md")]
    blocks = [block for page in pages for block in PART.findall(page.read_text("utf-8"))]
    assert blocks
    assert [block for block in blocks if not DATE.search(block) and "Not measured yet" not in block] == []
    rows = [row for row in blocks[0].splitlines()[2:] if row.startswith("|")]
    assert all(DATE.search(row) for row in rows)
