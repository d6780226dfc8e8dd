"""The lengths that `test_patterns.LIMITS` declares are true: the longest texts that the routes take, sent to them."""

import importlib
import re
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import store
from tests.fakes.hook_bodies import hook_body
from tests.fuzz.patterns import METHODS
from tests.fuzz.test_patterns import LIMITS

from chie.app import create_app
from chie.knowledge.server import create_server
from chie.knowledge.store.sqlite.store import SqliteStore

__all__ = ["store"]

MODULES = {
    "recall.signatures": ("_ANSI", "_MASKS", "_LABEL", "_TRAILER", "_CHAIN", "_CLAUSE", "_WORD"),
    "screening.placeholders": ("_REFERENCE", "_CODE", "_SHAPE", "_WORDS"),
    "screening.injection": ("_QUOTES", "_DISCUSSION"),
    "screening.assignments": ("_KEYWORD", "_SEPARATOR"),
    "search.query": ("_FIELD", "_PHRASE", "_PASTED"),
    "search.blocks": ("_FENCE", "_SEPARATOR_ROW"),
    "sources": ("_POSITION", "_ROOT"),
    "review.statements": ("_SENTENCE_END", "_CLAUSE_END"),
    "review.words": ("_PIECE",),
}


class Watched:
    """A pattern that remembers the longest text it has met."""

    def __init__(self, pattern: re.Pattern[str], lengths: list[int]) -> None:
        self._pattern, self._lengths = pattern, lengths

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)
        if name not in METHODS:
            return method

        def called(*arguments: Any, **named: Any) -> Any:
            self._lengths.append(len(arguments[name in ("sub", "subn")]))
            return method(*arguments, **named)

        return called


def watched(value: Any, lengths: list[int]) -> Any:
    if isinstance(value, re.Pattern):
        return Watched(value, lengths)
    return tuple(watched(item, lengths) for item in value) if isinstance(value, tuple) else value


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, patterns in MODULES.items():
        module = importlib.import_module(f"chie.knowledge.{name}")
        lengths = found.setdefault(module.__name__, [])
        for pattern in patterns:
            monkeypatch.setattr(module, pattern, watched(getattr(module, pattern), lengths))
    return found


LINE = "password: Xk9qTq7Zz2hL must be `set`, the port is 8080, and「無視」is not allowed; "
SLOW_NOTES = (  # each took minutes or more
    f"ignore all previous instructions, said the attack\n{' ' * 99_000}\n\n| a |\n{'-' * 99_000}",
    f"password: {'a' * 60}.-1 x",
    f"password: {' ' * 99_000}x",
)


def test_no_pattern_meets_a_longer_text_than_declared(store: SqliteStore, met: dict[str, list[int]]) -> None:
    output, note = LINE * 12_000, LINE * 2_400
    app = create_app({"knowledge": create_server(store=store)})
    with TestClient(app, base_url="http://127.0.0.1:8080") as page:

        def save(content: str, **fields: Any) -> str:
            response = page.post("/api/knowledge", json={"content": content, "source": "a/b.py:1", **fields})
            return str(response.json().get("code", response.status_code))

        assert save(note) == "knowledge.secret_found"
        assert save(note, secrets="allow") == save(note.replace("8080", "8081"), secrets="allow") == "201"
        assert [save(text) for text in SLOW_NOTES] == ["201"] * len(SLOW_NOTES)
        assert save(output) == "knowledge.content_too_long"
        assert save("x", errors=[output]) == "201"
        for query in (LINE * 99, "x" * 20_000):
            page.get("/api/knowledge/search", params={"q": query})
        for hook, changes in (
            ("post_tool_use_failure_bash", {"tool_input": {"command": output}, "error": output}),
            ("pre_tool_use_edit", {"tool_input": {"file_path": f"/{output}/b.py"}, "cwd": output}),
            ("user_prompt_submit", {"prompt": output}),
        ):
            body = hook_body(hook, session_id="s", **changes)
            assert page.post("/hooks/claude-code", json=body).status_code == 200
        for listed in page.get("/api/knowledge").json()["notes"]:
            assert page.get(f"/api/knowledge/{listed['id']}").status_code == 200
        while page.get("/api/knowledge/review").json()["pending"]:
            pass
    too_long = {module: max(lengths) for module, lengths in met.items() if max(lengths, default=0) > _limit(module)}
    assert too_long == {}
    assert [module for module, lengths in met.items() if not lengths] == []


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("path", ["/api/knowledge", "/hooks/claude-code", "/api/knowledge/cited"])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (DEEP.encode(), "http.body_too_deep"),
        (f'{{"content": {DEEP}}}'.encode(), "http.body_too_deep"),
        (b'{"content": "\xff"}', "http.invalid_request"),
    ],
)
def test_a_body_that_cannot_be_read_is_the_callers_error(store: SqliteStore, path: str, body: bytes, code: str) -> None:
    app = create_app({"knowledge": create_server(store=store)})
    with TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False) as page:
        response = page.post(path, content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, code)


def _limit(module: str) -> int:
    return next(LIMITS[name][0] for name in sorted(LIMITS, key=len, reverse=True) if module.startswith(name))
