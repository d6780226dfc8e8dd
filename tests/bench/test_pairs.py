"""The labelled pairs of the review: a pair in both sets, or a label that does not exist, would falsify its figures."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SETS = Path(__file__).parents[2] / "bench" / "sets"
LEAST = {"duplicate": 40, "contradiction": 50, "neither": 60}


def rows(which: str) -> list[dict[str, Any]]:
    files = sorted((SETS / which).glob("pairs*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.mark.req("MT-3")
@pytest.mark.parametrize("which", ["dev", "test"])
def test_set_is_large_enough_and_in_both_languages(which: str) -> None:
    found = rows(which)
    counts = Counter(row["label"] for row in found)
    assert set(counts) == set(LEAST)
    assert {label: counts[label] for label, least in LEAST.items() if counts[label] < least} == {}
    languages = Counter("-".join(sorted(row["lang"].split("-"))) for row in found)
    assert set(languages) == {"ja-ja", "en-en", "en-ja"}
    assert min(languages.values()) >= 20


@pytest.mark.req("MT-3")
def test_no_note_is_in_both_sets() -> None:
    groups = [json.loads(line) for line in (SETS / "dev" / "groups.jsonl").read_text("utf-8").splitlines()]
    seen = {text for row in rows("dev") for text in (row["a"], row["b"])}
    seen |= {text for one in groups for text in (one["base"], *one["dup"], *one["contra"], *one["neither"])}
    assert seen & {text for row in rows("test") for text in (row["a"], row["b"])} == set()
