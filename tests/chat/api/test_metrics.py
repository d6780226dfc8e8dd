"""The metrics of the chat."""

from functools import partial

from tests.fakes.agents import GatedAgent
from tests.fakes.chat import ChatClient
from tests.fakes.sse import asking
from tests.fakes.waiting import until


async def figures(chat: ChatClient) -> dict[str, float]:
    page = (await chat.client.get("/metrics")).text
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_answers_tokens_tools_and_requests_are_counted(chat: ChatClient) -> None:
    await chat.ask("look", agent_id="tools")
    await chat.ask("at once", agent_id="failing")
    await chat.client.get("/nowhere")
    found = await figures(chat)
    assert found['chie_answers_total{agent="tools",status="complete"}'] == 1
    assert found['chie_answers_total{agent="failing",status="failed"}'] == 1
    assert found['chie_tokens_total{agent="tools",direction="input"}'] == 100
    assert found['chie_tool_calls_total{outcome="failed",tool="broken"}'] == 1
    assert found['chie_http_requests_total{method="POST",route="/api/chat/stream",status="200"}'] == 2
    assert found['chie_http_requests_total{method="GET",route="other",status="404"}'] == 1
    assert found['chie_first_event_seconds_count{agent="tools"}'] == 1
    assert found['chie_answer_seconds_count{agent="tools"}'] == 1
    assert found["process_resident_memory_bytes"] > 0


async def test_invented_tools_share_one_label(chat: ChatClient) -> None:
    for name in ("wipe", "消す", "knowledge_broken", "knowledge_wipe"):
        await chat.ask(name, agent_id="inventive")
    found = {name: value for name, value in (await figures(chat)).items() if name.startswith("chie_tool_calls_total")}
    assert found == {
        'chie_tool_calls_total{outcome="failed",tool="unknown"}': 3,
        'chie_tool_calls_total{outcome="failed",tool="knowledge_broken"}': 1,
    }


async def test_unknown_methods_share_one_label(chat: ChatClient) -> None:
    for number in range(3):
        await chat.client.request(f"MADEUP{number}", "/health")
    counted = [name for name in await figures(chat) if name.startswith("chie_http_requests_total")]
    assert [name for name in counted if "MADEUP" in name] == []
    assert len([name for name in counted if 'method="other"' in name]) == 1


async def open_streams(chat: ChatClient, expected: int) -> bool:
    return (await figures(chat))["chie_open_streams"] == expected


async def test_open_streams_are_counted(chat: ChatClient) -> None:
    async with asking(chat.client, "wait", agent_id="gated"):
        await until(partial(open_streams, chat, 1))
    await until(partial(open_streams, chat, 0))
    chat.agent(GatedAgent).finish()
