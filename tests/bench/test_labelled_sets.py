"""The labelled sets for recall: a wrong label or a text in both sets would falsify every figure read from them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SETS = Path(__file__).parents[2] / "bench" / "sets"
KINDS = {"prompts": {"relevant", "near", "ordinary", "trivial"}, "failures": {"relevant", "near", "ordinary"}}
LEAST = {
    ("dev", "prompts"): {"relevant": 90, "near": 70, "ordinary": 90, "trivial": 12},
    ("dev", "failures"): {"relevant": 45, "near": 35, "ordinary": 40},
    ("dev", "signatures"): {"": 110},
    ("test", "prompts"): {"relevant": 150, "near": 120, "ordinary": 150, "trivial": 12},
    ("test", "failures"): {"relevant": 75, "near": 60, "ordinary": 65},
    ("test", "signatures"): {"": 50},
}


def rows(which: str, name: str) -> list[dict[str, Any]]:
    lines = (SETS / which / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts(which: str, name: str) -> list[str]:
    """Every text of a set; a failure's output counts, since many fail under the same command."""
    if name == "signatures":
        return [text for row in rows(which, name) for text in (row["first"], *row["again"], *row["other"])]
    return [row["text" if name == "prompts" else "error"] for row in rows(which, name)]


@pytest.mark.parametrize(("which", "name"), LEAST)
def test_set_is_large_enough_and_in_both_languages(which: str, name: str) -> None:
    found = rows(which, name)
    counts = Counter(row.get("kind", "") for row in found)
    assert {kind: counts[kind] for kind, least in LEAST[which, name].items() if counts[kind] < least} == {}
    languages = Counter(row["lang"] for row in found)
    assert set(languages) == {"ja", "en"}
    assert min(languages.values()) >= len(found) / 3


@pytest.mark.parametrize(("which", "name"), [pair for pair in LEAST if pair[1] in KINDS])
def test_label_names_a_note_of_the_set_exactly_where_one_helps(which: str, name: str) -> None:
    notes = {note["id"] for note in rows(which, "notes")}
    for row in rows(which, name):
        assert row["kind"] in KINDS[name], row
        assert (row["note"] in notes) if row["kind"] == "relevant" else (row["note"] is None), row


@pytest.mark.parametrize("which", sorted({which for which, _ in LEAST}))
def test_failure_is_a_command_and_what_its_hook_reports(which: str) -> None:
    for row in rows(which, "failures"):
        assert set(row) == {"lang", "kind", "note", "command", "error"}
        assert row["command"].strip()
        assert row["error"].startswith("Exit code ")
        assert 2 <= len(row["error"].splitlines()) <= 27, row["command"]


@pytest.mark.parametrize("which", sorted({which for which, _ in LEAST}))
def test_signature_has_three_repeats_and_two_others(which: str) -> None:
    for row in rows(which, "signatures"):
        assert set(row) == {"lang", "first", "again", "other"}
        assert (len(row["again"]), len(row["other"])) == (3, 2), row["first"]


def test_no_text_is_labelled_twice() -> None:
    for name in ("prompts", "failures", "signatures"):
        every = [text.strip() for which, kind in LEAST if kind == name for text in texts(which, name)]
        assert [text for text, times in Counter(every).items() if times > 1] == []
