"""Errors of requests: their status, text, code and parameters."""

import base64
from typing import Any

import pytest
from tests.fakes.agents import NO_AGENT, UNREACHABLE
from tests.fakes.chat import ChatClient

from chie.http.body_limit import MAX_BODY_BYTES
from chie.messages.catalogue import Message

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
NO_SESSION = str(Message("sessions.session_not_found"))
NO_MESSAGE = str(Message("sessions.message_not_found"))
NO_ANSWER = str(Message("sessions.answer_not_found"))


async def error_of(chat: ChatClient, method: str, path: str, body: Any = None) -> tuple[int, str]:
    response = await chat.client.request(method, path, json=body)
    assert list(response.json())[:3] == ["detail", "code", "params"]
    return response.status_code, response.json()["detail"]


@pytest.mark.req("CH-13")
@pytest.mark.parametrize(
    ("method", "path", "body", "detail"),
    [
        ("POST", "/api/chat/stream", {}, "message is required."),
        ("POST", "/api/chat/stream", {"message": "x", "agent": "y"}, "unknown field in the body: "),
        ("POST", "/api/chat/stream", {"message": 5}, "message must be a string."),
        ("POST", "/api/chat/stream", {"message": "x" * 200_001}, "message must be at most 200000 long."),
        ("POST", "/api/chat/stream", {"message": " \n"}, str(Message("sessions.message_required"))),
        ("POST", "/api/chat/stream", {"message": ""}, str(Message("sessions.message_required"))),
        ("PATCH", f"/api/sessions/{UNKNOWN_ID}", {"title": " "}, str(Message("sessions.title_blank"))),
        ("POST", "/api/chat/stream", {"message": "a\x00b"}, str(Message("sessions.message_has_nul"))),
        (
            "POST",
            "/api/chat/stream",
            {"message": "x", "parent_id": UNKNOWN_ID},
            str(Message("sessions.parent_without_session")),
        ),
        ("POST", "/api/chat/stream", {"message": "x", "session_id": "a\x00b"}, "session_id "),
        ("POST", f"/api/chat/{UNKNOWN_ID}/approve", {"id": "a\x00b"}, "id "),
        ("POST", "/api/chat/stream", [1], "the body must be a JSON object, "),
        ("GET", "/api/sessions?limit=0", None, "limit must be at least 1."),
        ("GET", "/api/sessions?limit=many", None, "limit must be a whole number."),
        ("GET", "/api/sessions?cursor=nonsense", None, "`cursor` is not valid. "),
        ("PATCH", f"/api/sessions/{UNKNOWN_ID}", {}, str(Message("sessions.nothing_to_change"))),
        ("GET", f"/api/sessions/{UNKNOWN_ID}/export?format=pdf", None, "format must be one of 'markdown' or 'json'."),
        ("GET", f"/api/chat/stream/{UNKNOWN_ID}?after=-1", None, "after must be at least 0."),
        (
            "POST",
            f"/api/chat/{UNKNOWN_ID}/approve",
            {"id": "x", "approved": "maybe"},
            "approved must be true or false.",
        ),
        ("POST", "/v1/chat/completions", {"model": "echo", "messages": []}, "messages must be at least 1 long."),
    ],
)
async def test_wrong_parameters_are_400(chat: ChatClient, method: str, path: str, body: Any, detail: str) -> None:
    status, found = await error_of(chat, method, path, body)
    assert (status, found[: len(detail)]) == (400, detail)


async def test_lone_surrogate_is_400(chat: ChatClient) -> None:
    """JSON can represent it, UTF-8 cannot."""
    body = b'{"message": "a\\ud800b"}'
    response = await chat.client.post("/api/chat/stream", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "http.invalid_request")
    (problem,) = response.json()["params"]["problems"]
    assert (problem["code"], problem["params"]) == ("argument.lone_surrogate", {"name": "message"})


@pytest.mark.req("CH-13")
@pytest.mark.parametrize(
    ("method", "path", "body", "detail"),
    [
        ("POST", "/api/chat/stream", {"message": "x", "agent_id": "unknown"}, NO_AGENT),
        ("POST", "/api/chat/stream", {"message": "x", "session_id": UNKNOWN_ID}, NO_SESSION),
        ("GET", f"/api/sessions/{UNKNOWN_ID}", None, NO_SESSION),
        ("PATCH", f"/api/sessions/{UNKNOWN_ID}", {"title": "x"}, NO_SESSION),
        ("DELETE", f"/api/sessions/{UNKNOWN_ID}", None, NO_SESSION),
        ("GET", f"/api/sessions/{UNKNOWN_ID}/export", None, NO_SESSION),
        ("POST", "/api/sessions", {"agent_id": "unknown"}, NO_AGENT),
        ("GET", f"/api/chat/stream/{UNKNOWN_ID}", None, NO_ANSWER),
        ("POST", f"/api/chat/{UNKNOWN_ID}/stop", None, NO_ANSWER),
        ("POST", f"/api/chat/{UNKNOWN_ID}/approve", {"id": "x"}, NO_ANSWER),
        ("POST", f"/api/chat/{UNKNOWN_ID}/regenerate", None, NO_MESSAGE),
        ("POST", f"/api/chat/{UNKNOWN_ID}/edit", {"message": "x"}, NO_MESSAGE),
        ("POST", "/v1/chat/completions", {"model": "no", "messages": [{"role": "user", "content": "x"}]}, NO_AGENT),
        ("GET", "/nowhere", None, "Nothing is at this path. `GET /docs` lists all paths."),
    ],
)
async def test_unknown_ids_are_404(chat: ChatClient, method: str, path: str, body: Any, detail: str) -> None:
    assert await error_of(chat, method, path, body) == (404, detail)


@pytest.mark.req("CH-13")
async def test_failing_model_is_500_before_the_stream_starts(chat: ChatClient) -> None:
    body = {"model": "failing", "messages": [{"role": "user", "content": "x"}]}
    for stream in (False, True):
        assert await error_of(chat, "POST", "/v1/chat/completions", body | {"stream": stream}) == (500, UNREACHABLE)


@pytest.mark.req("CH-13")
async def test_unexpected_error_is_500_with_a_request_id_only(chat: ChatClient) -> None:
    body = {"model": "failing", "messages": [{"role": "user", "content": "bug"}]}
    response = await chat.client.post("/v1/chat/completions", json=body)
    assert response.status_code == 500
    assert "secret inside" not in response.text
    assert response.json()["detail"].endswith("has the reason under request " + _request(response.json()["detail"]))


def _request(detail: str) -> str:
    return detail.rsplit(" ", 1)[1]


async def test_unsupported_method_is_405_with_the_allowed_ones(chat: ChatClient) -> None:
    response = await chat.client.put("/api/sessions")
    assert response.status_code == 405
    assert response.json()["code"] == "http.method_not_allowed"
    assert response.headers["allow"] in ("GET", "POST", "GET, POST", "POST, GET")


@pytest.mark.parametrize("with_length", [True, False])
async def test_too_large_body_is_413(chat: ChatClient, with_length: bool) -> None:
    async def pieces() -> Any:
        for _ in range(MAX_BODY_BYTES // 65_536 + 2):
            yield b" " * 65_536

    body = b" " * (MAX_BODY_BYTES + 1) if with_length else pieces()
    response = await chat.client.post("/api/chat/stream", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert response.json() == {
        "detail": "The body is too large: at most 4 MiB. Send less at a time.",
        "code": "http.body_too_large",
        "params": {"limit": 4},
    }


@pytest.mark.parametrize(
    "path", ["/api/sessions/a%00b", "/api/sessions?query=%00", "/api/chat/stream/%00", "/api/sessions/%00/export"]
)
async def test_nul_in_a_url_is_400_on_both_databases(chat_on_both: ChatClient, path: str) -> None:
    assert await error_of(chat_on_both, "GET", path) == (400, "The URL contains a NUL character. Send plain text.")


@pytest.mark.parametrize(
    "cursor",
    [
        "2026-01-01T00:00:00+00:00 a\x00b",
        "2026-01-01 x",
        "today and tomorrow",
        f"0001-01-01T00:00:00+23:59 {UNKNOWN_ID}",
    ],
)
async def test_invalid_cursor_is_400(chat_on_both: ChatClient, cursor: str) -> None:
    encoded = base64.urlsafe_b64encode(cursor.encode()).decode()
    status, found = await error_of(chat_on_both, "GET", f"/api/sessions?cursor={encoded}")
    assert (status, found) == (
        400,
        "`cursor` is not valid. Use `next_cursor` of the previous page, or start again without a cursor.",
    )


async def test_control_characters_in_a_title_become_spaces(chat_on_both: ChatClient) -> None:
    made = await chat_on_both.client.post("/api/sessions", json={"title": "a\x00b\x1b[0m"})
    assert (made.status_code, made.json()["title"]) == (201, "a b [0m")


async def test_body_that_is_not_json_is_400(chat: ChatClient) -> None:
    response = await chat.client.post(
        "/api/chat/stream", content=b"{oops", headers={"Content-Type": "application/json"}
    )
    assert (response.status_code, response.json()["detail"]) == (400, "the body is not JSON.")
    assert response.json()["params"]["problems"][0]["code"] == "http.body_not_json"
