"""No text makes a pattern slow: every pattern meets its worst texts, as long as it can meet them."""

import re
from collections import defaultdict

import pytest
from tests.fuzz.patterns import Found, dynamic, patterns, slowest

SECONDS = 0.2
LONGEST = 1_000_000  # characters
NOTE = 200_000

LIMITS = {
    "chie.bedrock_kb.aws_errors._QUOTED_VALUE": (4_096, "text before a closing quote, so that it always matches"),
    "chie.chat.json_file": (8_192, "a value in a file of the operator"),
    "chie.chat.models.provider_error": (4_000, "the beginning of an error"),
    "chie.chat.models.vision": (300, "the name of a model"),
    "chie.connect": (8_192, "configuration files of the user's own programs"),
    "chie.knowledge.recall.signatures": (1_600, "a line of an output; `_lines` cuts it"),
    "chie.knowledge.review": (3_200, "the beginning of a note, which `scan.py` cuts, and its title"),
    "chie.knowledge.screening.placeholders": (400, "a value, which `assignments.py` cuts"),
    "chie.knowledge.screening": (NOTE, "a note"),
    "chie.knowledge.search.query": (10_000, "a query"),
    "chie.knowledge.search": (NOTE, "a note"),
    "chie.knowledge.sources": (4_096, "a path"),
    "chie.n8n.nodes": (4_000, "a sentence or definition of n8n"),
    "chie.setup.chat_models": (300, "the name of a model"),
    "chie.web_fetch.body._META": (4_096, "the beginning of a page"),
}
"""The longest text that patterns meet, where it is shorter. `test_bounds.py` checks it at the routes."""

BUILT = {
    "chie.bedrock_kb.aws_errors": "an argument of the call, escaped",
    "chie.chat.models.provider_error": "constants",
    "chie.chat.sessions.passages": "a query, escaped",
    "chie.http.body_limit": "paths in the code",
    "chie.knowledge.recall.signatures": "constants",
    "chie.knowledge.review.opposites": "constants",
    "chie.knowledge.review.quantities": "constants",
    "chie.knowledge.review.scopes": "constants",
    "chie.knowledge.screening.injection_phrases": "constants",
    "chie.knowledge.screening.placeholders": "constants",
    "chie.knowledge.screening.token_formats": "constants",
    "chie.knowledge.search.highlights": "words of a query, escaped",
    "chie.knowledge.search.query": "a phrase of a query, escaped",
    "chie.knowledge.search.tokens": "a word of a query, escaped",
    "chie.n8n.node_references": "the name of a node, escaped",
}
"""What modules build patterns from, beside literals."""

BY_MODULE: dict[str, list[Found]] = defaultdict(list)
for one in patterns():
    BY_MODULE[one.module].append(one)


def limit(found: Found) -> int:
    named = (LIMITS[name][0] for name in sorted(LIMITS, key=len, reverse=True) if str(found).startswith(name))
    return next(named, LONGEST)


@pytest.mark.parametrize("module", BY_MODULE)
def test_no_text_makes_a_pattern_slow(module: str) -> None:
    slow = {}
    for found in BY_MODULE[module]:
        seconds, text = slowest(found.pattern, found.methods, limit(found), SECONDS)
        if seconds > SECONDS:
            slow[str(found)] = (round(seconds, 2), found.pattern.pattern, text)
    assert not slow


def test_patterns_are_found() -> None:
    names = {str(found) for found in patterns()}
    assert len(names) > 250
    assert "chie.knowledge.recall.signatures._MASKS" in names
    assert any(name.startswith("chie.knowledge.screening.placeholders.line ") for name in names)


def test_patterns_are_built_from_nothing_else() -> None:
    assert dynamic() == set(BUILT)


@pytest.mark.parametrize("slow", [r"\x1b\][^\x07]*\x07", r"(a+)+$", r"(?:\w+\.)+x", r"\s*\|?\s*-"])
def test_a_slow_pattern_is_noticed(slow: str) -> None:
    assert slowest(re.compile(slow), ["finditer", "fullmatch"], LONGEST, SECONDS)[0] > 0.02
