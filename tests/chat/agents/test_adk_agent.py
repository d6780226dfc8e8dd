"""ADKAgent, from its own package: the Anthropic SDK against a loopback server that speaks Anthropic's protocol."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.contract.agent import ToolAgentContract, ask, settings
from tests.fakes import anthropic_server
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.model_server import Refuse, Say, Use, say, use

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.events import Event
from chie.chat.models.errors import ModelError
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox
from chie_agent_adk.agent import create_agent

__all__ = ["settings"]


@pytest.fixture
def peer() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.mark.req("CH-1", "CH-5", "CH-8")
class TestADKAgent(ToolAgentContract):
    @pytest.fixture
    async def agent(self, peer: AnthropicServer, toolbox: Toolbox, settings: ChatSettings) -> AsyncIterator[BaseAgent]:
        profile = Profile(id="adk", base_url=peer.address, api_key="sk-ant-1")
        agent = create_agent(profile, AgentDependencies(settings, toolbox, ["workbench"]))
        yield agent
        await agent.close()

    @pytest.mark.req("AG-3")
    async def test_reasoning_is_returned_with_the_results_and_its_signature(
        self, agent: BaseAgent, peer: AnthropicServer
    ) -> None:
        peer.script.extend([Say((), (Use("echo", '{"text": "x"}', "c1"),), thought="I wonder"), say("ok")])
        await ask(agent)
        block = peer.seen[1]["messages"][1]["content"][0]
        assert block == {"type": "thinking", "thinking": "I wonder", "signature": "signed"}

    @pytest.mark.req("AG-3")
    async def test_model_is_asked_for_a_summary_of_its_thinking(self, agent: BaseAgent, peer: AnthropicServer) -> None:
        """Which takes tokens of the answer."""
        peer.script.append(say("ok"))
        await ask(agent)
        [request] = peer.seen
        assert request["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert request["max_tokens"] == 32_000

    @pytest.mark.req("AG-2")
    async def test_context_is_read_from_the_list_of_models(
        self, agent: BaseAgent, peer: AnthropicServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So that a long conversation is summarised before the model refuses it."""
        monkeypatch.setattr(peer, "contexts", {"claude-sonnet-5": 9_000})
        peer.script.extend([say("要点")] * 9)
        history = tuple(Turn(role=role, content="long " * 500) for _ in range(9) for role in ("user", "assistant"))
        events = await ask(agent, "the question", history=history)
        assert [event["type"] for event in events] == ["summary", "summary", "message", "done"]
        assert "summary of the earlier messages" in peer.turns(peer.seen[-1])[0][1]

    @pytest.mark.req("AG-2")
    async def test_server_that_does_not_say_its_context_is_no_error(
        self, agent: BaseAgent, peer: AnthropicServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(peer, "models", ())
        peer.script.append(say("short"))
        history = (Turn(role="user", content="long " * 5_000), Turn(role="assistant", content="ok"))
        assert [event["type"] for event in await ask(agent, history=history)] == ["message", "done"]

    async def test_what_the_next_request_repeats_is_marked_for_the_cache(
        self, agent: BaseAgent, peer: AnthropicServer
    ) -> None:
        peer.script.extend([use(Use("echo", '{"text": "x"}', "c1")), say("ok")])
        history = (Turn(role="user", content="one"), Turn(role="assistant", content="two"))
        await ask(agent, "three", history=history)
        mark = {"cache_control": {"type": "ephemeral"}}
        for request in peer.seen:
            [system] = request["system"]
            assert system == {"type": "text", "text": system["text"], **mark}
            assert str(request).count("cache_control") == 3
            assert request["messages"][0] == {"role": "user", "content": [{"type": "text", "text": "one", **mark}]}
            assert request["messages"][-1]["content"][-1]["cache_control"] == mark["cache_control"]
        assert peer.seen[1]["messages"][-1]["content"][0]["type"] == "tool_result"
        assert peer.seen[1]["messages"][2] == {"role": "user", "content": "three"}, "an unmarked message is the same"

    async def test_cached_tokens_are_counted_as_input(
        self, agent: BaseAgent, peer: AnthropicServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counted = {
            "input_tokens": 7,
            "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 90,
            "output_tokens": 1,
        }
        monkeypatch.setattr(anthropic_server, "USAGE", counted)
        peer.script.append(say("x"))
        counted = {"input_tokens": 997, "output_tokens": 3, "cached_tokens": 900, "cache_write_tokens": 90}
        assert (await ask(agent))[-1]["usage"] == counted  # type: ignore[typeddict-item]

    @pytest.mark.req("AG-6")
    async def test_the_setting_of_its_own_key_is_named(self, peer: AnthropicServer) -> None:
        """With a key of its own and the common URL; and with neither."""
        settings = ChatSettings(anthropic_base_url=peer.address, anthropic_api_key=SecretStr("sk-common"))
        for key, named in (("sk-own", "agents.json"), (None, "ANTHROPIC_API_KEY")):
            peer.script.append(Refuse(401))
            agent = create_agent(Profile(id="adk", api_key=key), AgentDependencies(settings, Toolbox([]), []))
            with pytest.raises(ModelError) as caught:
                await ask(agent)
            await agent.close()
            assert named in str(caught.value.reason.params["setting"])

    async def test_key_is_sent(self, agent: BaseAgent, peer: AnthropicServer) -> None:
        peer.script.append(say("x"))
        await ask(agent)
        assert "sk-ant-1" in peer.headers[0]["authorization"]


class TerseServer(AnthropicServer):
    """Like proxies that do not count tokens or end a stream with an error of their own."""

    ending: tuple[dict[str, Any], ...] = ()

    def frames(self, step: Say) -> Iterator[bytes]:
        yield from self.opening("".join(step.pieces))
        for event in self.ending:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


@pytest.fixture
def terse() -> Iterator[TerseServer]:
    with TerseServer(say("hi")) as server:
        yield server


async def ask_terse(terse: TerseServer, *ending: dict[str, Any]) -> list[Event]:
    terse.ending = ending
    profile = Profile(id="adk", base_url=terse.address, api_key="sk-ant-1", servers=())
    agent = create_agent(profile, AgentDependencies(ChatSettings(), Toolbox([]), []))
    try:
        return await ask(agent)
    finally:
        await agent.close()


@pytest.mark.parametrize("counted", [{}, {"usage": None}, {"usage": {"output_tokens": None}}])
async def test_missing_token_counts_do_not_fail_the_answer(terse: TerseServer, counted: dict[str, Any]) -> None:
    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, **counted}
    message, done = await ask_terse(terse, last, {"type": "message_stop"})
    assert message == {"type": "message", "content": "hi"}
    assert done == {"type": "done", "usage": {"input_tokens": 7, "output_tokens": 0}}


async def test_error_within_the_stream_is_mapped_by_what_it_says(terse: TerseServer) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
    with pytest.raises(ModelError) as caught:
        await ask_terse(terse, error)
    assert caught.value.code == "models.conversation_too_long"


@pytest.mark.req("AG-6")
@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        ("overloaded_error", "models.rate_limited", 529),
        ("api_error", "models.server_failed", 500),
        ("authentication_error", "models.key_rejected", 401),
        ("permission_error", "models.key_forbidden", 403),
    ],
)
async def test_error_within_the_stream_has_the_status_of_its_type(
    terse: TerseServer, kind: str, code: str, status: int
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask_terse(terse, {"type": "error", "error": {"type": kind, "message": "…"}})
    assert (caught.value.code, caught.value.reason.params["status"]) == (code, status)


async def test_missing_key_is_reported() -> None:
    info = await create_agent(Profile(id="adk"), AgentDependencies(ChatSettings(), Toolbox([]), [])).get_agent_info()
    assert (info["available"], info["reason_code"]) == (False, "models.api_key_missing")
    assert info["reason_params"] == {"setting": "`ANTHROPIC_API_KEY`"}


async def test_common_key_is_not_sent_to_another_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-common")
    profile = Profile(id="mine", base_url="http://127.0.0.1:9")
    info = await create_agent(profile, AgentDependencies(ChatSettings(), Toolbox([]), [])).get_agent_info()
    assert (info["available"], info["reason"]) == (
        False,
        "This agent needs an API key. Set `api_key` in `agents.json`.",
    )
