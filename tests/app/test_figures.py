"""Figures of `make bench`, and the tables and the plot that are generated from them."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from bench.figure import Figure, Group, keep, read
from bench.peers import peers
from bench.plot import PANELS, plot
from bench.summary import HEADLINES, summary
from bench.table import table

ROOT = Path(__file__).parents[2]


def group(*figures: Figure) -> Group:
    return Group("about", figures)


def test_table_has_a_column_per_contestant_and_a_reason_for_every_dash() -> None:
    text = table(
        [
            Figure("a save", "Chie", 3.14159, "ms", 5),
            Figure("a save", "Peer 1.0", None, why="it wants a model from a hub."),
        ]
    )
    assert text.splitlines() == [
        "|  | Chie | Peer 1.0 | target |",
        "|---|---|---|---|",
        "| a save | 3.14 ms | — | ≤ 5 ms |",
        "",
        "Peer 1.0, no figure for a save: it wants a model from a hub.",
    ]


def test_missing_value_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Figure("a save", "Peer", None)


def test_storing_one_group_keeps_the_others(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    keep("one", group(Figure("a", "Chie", 1.0)), path)
    keep("two", group(Figure("b", "Chie", 2.0)), path)
    keep("one", group(Figure("a", "Chie", 3.0)), path)
    assert {name: found.figures[0].value for name, found in read(path).items()} == {"one": 3.0, "two": 2.0}


def test_missed_aim_is_marked_in_the_readme() -> None:
    line = HEADLINES[0]
    missed = summary({line.group: group(Figure(line.what, "Chie", 2.0, "×", 1.15))})
    kept = summary({line.group: group(Figure(line.what, "Chie", 1.1, "×", 1.15))})
    assert "2 ×: missed" in missed
    assert "missed" not in kept


def test_plot_supports_both_themes_and_shows_missing_figures() -> None:
    panel = PANELS[0]
    figures = [Figure(panel.what, "Chie", 1.0, "s"), Figure(panel.what, "A & B 1.0", None, why="it does not start.")]
    picture = plot({panel.group: group(*figures)})
    texts = [text.text for text in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own
    assert {panel.title, "Chie", "A & B", "not measured: see the table"} <= set(texts)
    assert "prefers-color-scheme: dark" in picture


def test_every_headline_and_panel_names_a_measured_figure() -> None:
    groups = read()
    measured = {(name, figure.what) for name, found in groups.items() for figure in found.figures}
    wanted = {(one.group, one.what) for one in (*HEADLINES, *PANELS) if one.group in groups}
    assert wanted <= measured


def test_every_measured_group_is_documented() -> None:
    shown = set(re.findall(r"generated: figures (\w+)", (ROOT / "docs" / "figures.md").read_text("utf-8")))
    assert set(read()) <= shown


def test_peers_are_pinned() -> None:
    assert all("==" in requirement for peer in peers().values() for requirement in peer.install)
