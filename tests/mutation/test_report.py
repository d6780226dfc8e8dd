"""Every survivor has a reason, and every reason a survivor."""

import tomllib
from pathlib import Path

import pytest
from tests.mutation.mutant import Fate, Mutant
from tests.mutation.report import SURVIVORS, compare, explained, score
from tests.mutation.suites import SUITES

ROOT = Path(__file__).resolve().parents[2]
PLACE = "n8n/merge.py _match"
ENTRY = """
[[survivor]]
place = "n8n/merge.py _match"
before = "a < b"
after = ["a <= b", "a > b"]
reason = "a is never b"
"""


def mutant(after: str, fate: Fate = "survived", before: str = "a < b") -> Mutant:
    return Mutant(PLACE, before, after, fate)


def test_unexplained_survivor_is_reported() -> None:
    mutants = [mutant("a <= b"), mutant("a > b"), mutant("a == b"), mutant("a != b", "test"), mutant("None", "type")]
    assert compare(mutants, explained(ENTRY), ["n8n/merge.py"]) == ([mutants[2]], [])


def test_unreached_mutant_needs_a_reason() -> None:
    unreached = mutant("a == b", "not reached")
    assert compare([unreached], {}, ["n8n/merge.py"]) == ([unreached], [])


def test_reason_is_stale_if_its_mutant_is_detected_or_gone() -> None:
    stale = compare([mutant("a <= b", "test")], explained(ENTRY), ["n8n/merge.py"])[1]
    assert stale == [(PLACE, "a < b", "a <= b"), (PLACE, "a < b", "a > b")]


def test_reasons_of_other_modules_are_ignored() -> None:
    assert compare([], explained(ENTRY), ["n8n/patch.py"]) == ([], [])


@pytest.mark.parametrize(
    ("before", "after", "wording"),
    [
        ('raise E("Say what is wrong.")', 'raise E("XXSay what is wrong.XX")', True),
        ('raise E("Say what is wrong.")', 'raise E("say what is wrong.")', True),
        ('raise E("Say what is wrong.")', "raise E(None)", False),
        ('raise E("Say what is wrong.", "x")', 'raise E("x")', False),
        ('x["name"]', 'x["NAME"]', False),
        ('x["name"] = "Say what is wrong."', 'x["NAME"] = "Say what is wrong."', False),
    ],
)
def test_changed_wording_needs_no_reason(before: str, after: str, wording: bool) -> None:
    assert mutant(after, before=before).is_wording is wording


def test_score_ignores_changed_wording() -> None:
    mutants = [
        mutant("x", "test"),
        mutant("y", "type"),
        mutant("a > b"),
        mutant("z"),
        mutant('"XXa b cXX"', before='"a b c"'),
    ]
    assert score("n8n/merge.py", mutants, explained(ENTRY)) == (
        "n8n/merge.py: 50.0% of 4 mutants detected (1 by tests, 1 by types); "
        "1 survivors explained, 1 not; 1 changed only the wording"
    )


def test_every_reason_names_an_existing_line() -> None:
    for entry in tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]:
        module, _, function = entry["place"].partition(" ")
        source = (ROOT / "src" / "chie" / module).read_text(encoding="utf-8")
        assert any(module in suite.modules for suite in SUITES.values()), entry["place"]
        assert f"def {function.split('.')[-1]}(" in source, entry["place"]
        assert entry["before"] in " ".join(source.split()), entry["before"]
        assert entry["reason"].strip()
