"""`kill -9` during an answer, with real processes: no stored message is lost and no event is repeated."""

import signal
from contextlib import AsyncExitStack, suppress
from functools import partial
from uuid import uuid4

import httpx2
import pytest
from sqlalchemy import URL
from tests.fakes.agents import ANSWER
from tests.fakes.chat_process import chat_process
from tests.fakes.sse import Reader, Sse, asking, following, parse, texts
from tests.fakes.waiting import until

from chie.messages.catalogue import Message

DIED = str(Message("chat.process_died"))


def counted(count: int) -> str:
    return "".join(f"{number} " for number in range(count))


async def saved(client: httpx2.AsyncClient, session_id: str, at_least: int) -> bool:
    """Whether this many events of the answer are saved."""
    messages = (await client.get(f"/api/sessions/{session_id}")).json()["messages"]
    return bool(messages[-1]["last_event_id"] >= at_least)


async def test_kill_9_loses_nothing_saved_and_marks_the_answer_as_interrupted(both: URL) -> None:
    with chat_process(both) as (url, process):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            whole = await client.post("/api/chat/stream", json={"message": "保存して"})
            async with asking(client, "count", agent_id="endless") as reader:
                seen = await reader.take(5)
                await until(partial(saved, client, reader.session_id, 5))
                seen += await reader.take(1)
                process.send_signal(signal.SIGKILL)
                process.wait()
                seen += await _drain(reader)
    with chat_process(both) as (url, _):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            await _check_whole(client, whole)
            question, answer = (await client.get(f"/api/sessions/{reader.session_id}")).json()["messages"]
            assert question["content"] == "count"
            assert (answer["status"], answer["error"]) == ("interrupted", DIED)
            assert (answer["error_code"], answer["error_params"]) == ("chat.process_died", {})
            assert answer["content"] == counted(len(answer["content"].split()))
            assert len(answer["content"].split()) >= 5
            async with following(client, reader.message_id, seen[-1].id) as back:
                rest = await back.rest()
            _check_events(seen, rest)
            again = await client.get(f"/api/chat/stream/{reader.message_id}", params={"after": rest[-1].id})
            assert again.status_code == 204
            regenerated = await client.post(f"/api/chat/{reader.message_id}/regenerate", json={"agent_id": "echo"})
            assert texts(parse(regenerated.text)) == "count"


async def _drain(reader: Reader) -> list[Sse]:
    found: list[Sse] = []
    with suppress(httpx2.HTTPError, EOFError):
        while True:
            found.append(await reader.event())
    return found


async def _check_whole(client: httpx2.AsyncClient, whole: httpx2.Response) -> None:
    session = (await client.get(f"/api/sessions/{whole.headers['x-chie-session']}")).json()
    assert [(message["content"], message["status"]) for message in session["messages"]] == [
        ("保存して", "complete"),
        (ANSWER, "complete"),
    ]


def _check_events(seen: list[Sse], rest: list[Sse]) -> None:
    """Event numbers before and after the crash increase, without repetition."""
    numbers = [event.id for event in seen + rest]
    assert numbers == sorted(set(numbers))
    assert [event.id for event in seen] == list(range(1, len(seen) + 1))
    assert [(event.event, event.data) for event in rest[-2:]] == [
        ("error", {"type": "error", "error": DIED, "code": "chat.process_died", "params": {}}),
        ("done", {"message_id": None}),
    ]
    assert texts(seen + rest) == counted(len(texts(seen + rest).split()))


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("finder", ["another process", "the next start"])
async def test_message_waits_for_no_process_that_died_before_sending_it(both: URL, finder: str) -> None:
    """The process ends by `kill -9` between saving the answer and sending what waits for it."""
    async with AsyncExitStack() as stack:
        url, dying = stack.enter_context(chat_process(both, "--dies-before-sending"))
        others = [stack.enter_context(chat_process(both))[0] for _ in range(2) if finder == "another process"]
        client = await stack.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=60))
        async with asking(client, "tidy up", agent_id="cautious") as reader:
            call = (await reader.event()).data["id"]
            for text in ("二番目", "third"):
                path = f"/api/sessions/{reader.session_id}/queue/{uuid4()}"
                queued = await client.put(path, json={"message": text, "agent_id": "echo"})
                assert queued.status_code == 200, queued.text
            with suppress(httpx2.HTTPError):
                await client.post(f"/api/chat/{reader.message_id}/approve", json={"id": call})
                await _drain(reader)
        assert dying.wait(timeout=60) == -signal.SIGKILL
        if not others:
            others = [stack.enter_context(chat_process(both))[0] for _ in range(2)]
        client = await stack.enter_async_context(httpx2.AsyncClient(base_url=others[0], timeout=60))

        async def answered() -> bool:
            found = (await client.get(f"/api/sessions/{reader.session_id}")).json()
            return not found["queue"] and [one["status"] for one in found["messages"]] == ["complete"] * 6

        await until(answered)
        messages = (await client.get(f"/api/sessions/{reader.session_id}")).json()["messages"]
    assert [one["content"] for one in messages if one["role"] == "user"] == ["tidy up", "二番目", "third"]
    assert [one["content"] for one in messages[2:]] == ["二番目", "二番目", "third", "third"]


async def test_sessions_continue_after_a_restart(both: URL) -> None:
    with chat_process(both) as (url, process):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            first = await client.post("/api/chat/stream", json={"message": "eins", "agent_id": "echo"})
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)
    session_id = first.headers["x-chie-session"]
    with chat_process(both) as (url, _):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            await client.post("/api/chat/stream", json={"message": "zwei", "session_id": session_id})
            messages = (await client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert [message["content"] for message in messages] == ["eins", "eins", "zwei", "zwei"]
