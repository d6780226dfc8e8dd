"""The prompt library over HTTP: saving, listing, changing and deleting prompts."""

import pytest
from tests.fakes.chat import ChatClient

pytestmark = pytest.mark.req("AG-12")

REPLY = {"name": "返信の下書き", "text": "{{相手}}さんへ、{{tone=丁寧|カジュアル}}な返信を書いて。"}


async def test_saved_prompt_is_listed_changed_and_deleted(chat_on_both: ChatClient) -> None:
    made = await chat_on_both.client.post("/api/prompts", json=REPLY | {"name": " 返信の\n下書き "})
    assert (made.status_code, made.json()["name"], made.json()["shared"]) == (201, "返信の 下書き", False)
    path = f"/api/prompts/{made.json()['prompt_id']}"
    await chat_on_both.client.post("/api/prompts", json={"name": "Bug report", "text": "Steps: {{steps}}"})
    changed = await chat_on_both.client.patch(path, json={"text": "短く返信して。"})
    assert (changed.json()["name"], changed.json()["text"]) == ("返信の 下書き", "短く返信して。")
    assert changed.json()["created_at"] == made.json()["created_at"]
    assert await chat_on_both.get(path) == changed.json()
    listed = await chat_on_both.get("/api/prompts")
    assert [one["name"] for one in listed["prompts"]] == ["Bug report", "返信の 下書き"]
    assert (await chat_on_both.client.delete(path)).status_code == 204
    assert (await chat_on_both.client.get(path)).json()["code"] == "prompts.not_found"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": " ", "text": "x"}, "prompts.blank"),
        ({"name": "x", "text": "\n"}, "prompts.blank"),
        ({"name": "x", "text": "a\x00b"}, "prompts.has_nul"),
    ],
)
async def test_prompt_without_a_name_or_a_text_is_refused(chat: ChatClient, body: dict[str, str], code: str) -> None:
    refused = await chat.client.post("/api/prompts", json=body)
    assert (refused.status_code, refused.json()["code"]) == (400, code)


async def test_number_of_prompts_is_limited(chat: ChatClient) -> None:
    many = [{"name": f"prompt {number}", "text": "x"} for number in range(1_000)]
    assert (await chat.client.post("/api/prompts/import", json={"prompts": many})).json()["imported"] == 1_000
    refused = await chat.client.post("/api/prompts", json=REPLY)
    assert (refused.status_code, refused.json()["code"]) == (400, "prompts.too_many")
