"""The contract of every agent, whatever its SDK. A test module inherits the classes that apply to its agent."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.fakes.model_server import Cut, ModelServer, Refuse, Say, Stall, Use, say, use
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.agents.base import Approve, BaseAgent, Turn
from chie.chat.agents.calls import agent_info
from chie.chat.events import Event, ToolCall
from chie.chat.models.errors import ModelError
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie.messages.catalogue import Message

SECRET = "sk-very-secret"
UNBOUND = Refuse(400, "Invalid `signature` in `thinking` block. The block is bound to a different conversation.")


async def ask(
    agent: BaseAgent, message: str = "hello", *, history: tuple[Turn, ...] = (), **options: Any
) -> list[Event]:
    return [event async for event in agent.stream_chat(message, history, "session-1", **options)]


def text_of(events: list[Event]) -> str:
    return "".join(event["content"] for event in events if event["type"] == "message")


async def reject(_: ToolCall) -> bool:
    return False


class AgentContract(ABC):
    """All agents. A subclass has the fixture `agent`; `prepare` sets up one answer and returns its text."""

    @abstractmethod
    def prepare(self, request: pytest.FixtureRequest) -> str: ...

    async def test_answer_is_messages_and_ends_with_done(
        self, agent: BaseAgent, request: pytest.FixtureRequest
    ) -> None:
        expected = self.prepare(request)
        events = await ask(agent)
        assert expected in text_of(events)
        assert [event["type"] for event in events].count("done") == 1
        assert events[-1]["type"] == "done"

    async def test_info_matches_the_agent(self, agent: BaseAgent) -> None:
        info = await agent_info(agent)
        assert (info["agent_id"], info["name"], info["description"]) == (agent.agent_id, agent.name, agent.description)
        assert all((info["agent_id"], info["name"], info["description"]))
        assert info["supports_mcp"] is agent.supports_mcp()
        assert (info["available"], info["reason"], info["reason_code"]) == (True, None, None)

    async def test_parallel_conversations_do_not_mix(self, agent: BaseAgent, request: pytest.FixtureRequest) -> None:
        first, second = self.prepare(request), self.prepare(request)
        answers = await asyncio.gather(ask(agent), ask(agent))
        assert {text_of(answer).count(first) for answer in answers} == {1}
        assert {text_of(answer).count(second) for answer in answers} == {1}


class ModelAgentContract(AgentContract):
    """Agents with a model; `peer` is its server."""

    def code(self, error: str) -> str:
        """The code of an error; overridden where a provider has codes of its own."""
        return f"models.{error}"

    def prepare(self, request: pytest.FixtureRequest) -> str:
        peer: ModelServer = request.getfixturevalue("peer")
        peer.script.append(say("こんにちは、", "world"))
        return "こんにちは、world"

    async def test_text_is_streamed(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("one ", "two ", "three"))
        events = await ask(agent)
        assert [event["content"] for event in events if event["type"] == "message"] == ["one ", "two ", "three"]

    @pytest.mark.req("AG-3")
    async def test_reasoning_is_streamed_apart_from_the_answer(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Say(("はい",), thought="少し考える。"))
        *events, done = await ask(agent)
        assert [(event["type"], event.get("content")) for event in events] == [
            ("reasoning", "少し考"),
            ("reasoning", "える。"),
            ("message", "はい"),
        ]
        assert "finish" not in done

    @pytest.mark.req("AG-3")
    async def test_reasoning_of_an_earlier_turn_is_not_sent(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("ok"))
        parts = [{"type": "reasoning", "content": "SECRETLY"}, {"type": "message", "content": "はい"}]
        turn: Turn = {"role": "assistant", "content": "はい", "parts": parts}
        await ask(agent, history=(Turn(role="user", content="one"), turn))
        assert peer.turns(peer.seen[0])[:2] == [("user", "one"), ("assistant", "はい")]
        assert "SECRETLY" not in json.dumps(peer.seen[0])

    async def test_done_has_the_token_counts(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("x"))
        assert (await ask(agent))[-1] == {"type": "done", "usage": {"input_tokens": 7, "output_tokens": 3}}

    async def test_done_reports_the_token_limit(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Say(("half of",), limited=True))
        done = (await ask(agent))[-1]
        assert done == {"type": "done", "usage": {"input_tokens": 7, "output_tokens": 3}, "finish": "length"}

    async def test_done_reports_the_content_filter(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Say(("First, you",), filtered=True))
        *messages, done = await ask(agent)
        assert text_of(messages) == "First, you"
        assert done == {"type": "done", "usage": {"input_tokens": 7, "output_tokens": 3}, "finish": "content_filter"}

    async def test_model_gets_the_conversation_in_order(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("fine"))
        history = (Turn(role="user", content="hi"), Turn(role="assistant", content="やあ"))
        await ask(agent, "how are you?", history=history)
        assert peer.turns(peer.seen[0]) == [("user", "hi"), ("assistant", "やあ"), ("user", "how are you?")]

    async def test_turns_are_made_to_alternate(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("fine"))
        history = (
            Turn(role="assistant", content="a greeting before any question"),
            Turn(role="user", content="one"),
            Turn(role="assistant", content=" "),
            Turn(role="user", content="two"),
        )
        await ask(agent, "three", history=history)
        assert peer.turns(peer.seen[0]) == [("user", "one\n\ntwo\n\nthree")]

    @pytest.mark.parametrize(
        ("step", "error"),
        [
            (Refuse(400), "request_rejected"),
            (Refuse(401), "key_rejected"),
            (Refuse(404), "model_not_found"),
            (Refuse(429), "rate_limited"),
            (Refuse(500), "server_failed"),
            (Cut("half an ans"), "connection_broken"),
            (say(), "answer_empty"),
            (say("\n", " "), "answer_empty"),
            (Say(filtered=True), "answer_filtered"),
            (Say(thought="Hm. Let me", limited=True), "reasoning_truncated"),
            (Say(thought="Hm."), "reasoning_only"),
        ],
        ids=["400", "401", "404", "429", "500", "cut", "empty", "blank", "filtered", "mid-thought", "thought only"],
    )
    async def test_errors_of_a_model_have_codes(
        self, agent: BaseAgent, peer: ModelServer, step: Any, error: str
    ) -> None:
        peer.script.extend([step] * 3)
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert caught.value.code == self.code(error)
        assert SECRET not in caught.value.message

    @pytest.mark.req("AG-2")
    async def test_a_conversation_that_is_too_long_is_summarised_and_sent_again(
        self, agent: BaseAgent, peer: ModelServer
    ) -> None:
        """In two parts here. The next question fits at once, because the limit is known then; the summary is kept."""
        refusal = Refuse(400, "input is too long: the maximum context length is 9000 tokens")
        peer.script.extend([refusal, say("前半"), say("要点", "です"), say("short"), say("short again")])
        history = tuple(
            Turn(role=role, content=f"{role} {number} " * 160) for number in range(9) for role in ("user", "assistant")
        )
        announced, summary, *events = await ask(agent, "the question", history=history)
        assert text_of(events) == "short"
        assert announced["type"] == summary["type"] == "summary"
        assert "content" not in announced
        assert (summary.get("content"), summary.get("questions")) == ("要点です", announced.get("questions"))
        [(_, told)] = peer.turns(peer.seen[1])
        assert told.startswith("User: user 0 user 0")
        assert not peer.tools(peer.seen[1])
        assert "前半\n\n" in peer.turns(peer.seen[2])[0][1]
        texts = [text for _, text in peer.turns(peer.seen[3])]
        assert texts[-1] == "the question"
        assert "summary of the earlier messages" in texts[0]
        assert "要点です\n\nuser " in texts[0]
        assert len(json.dumps(peer.seen[3]["messages"])) < len(json.dumps(peer.seen[0]["messages"])) / 2
        again = await ask(agent, "one more", history=history)
        assert [event["type"] for event in again] == ["summary", "message", "done"]
        assert len(peer.seen) == 5

    @pytest.mark.req("AG-2")
    async def test_a_summary_that_fails_leaves_the_oldest_turns_out(self, agent: BaseAgent, peer: ModelServer) -> None:
        refusal = Refuse(400, "input is too long: the maximum context length is 3000 tokens")
        peer.script.extend([refusal, Refuse(400), say("short")])
        history = tuple(Turn(role=role, content="long " * 999) for _ in range(9) for role in ("user", "assistant"))
        events = await ask(agent, "the question", history=history)
        assert text_of(events) == "short"
        assert [event.get("content") for event in events if event["type"] == "summary"] == [None, ""]
        assert "were left out" in peer.turns(peer.seen[2])[0][1]

    @pytest.mark.req("AG-2", "AG-6")
    async def test_a_question_that_is_too_long_by_itself_is_an_error(self, agent: BaseAgent, peer: ModelServer) -> None:
        """Nothing can be left out, so it is not sent again."""
        peer.script.append(Refuse(400, "prompt is too long: 9000 tokens > 1000 maximum"))
        with pytest.raises(ModelError) as caught:
            await ask(agent, "x " * 9_000)
        assert caught.value.code == "models.message_too_long"
        assert caught.value.reason.params["context"] == 1000
        assert len(peer.seen) == 1

    @pytest.mark.req("AG-6")
    async def test_a_model_without_tools_is_named(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Refuse(400, "this model does not support tools"))
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert caught.value.code == self.code("tools_unsupported")

    async def test_silent_model_times_out(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.extend([Stall("hm")] * 3)
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert (caught.value.code, caught.value.reason.params["seconds"]) == (self.code("timeout"), "0.5")

    async def test_text_before_an_interruption_is_kept(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Cut("half an ans"))
        answer = agent.stream_chat("hello", (), "session-1")
        assert text_of([await anext(answer)]) == "half an ans"
        with pytest.raises(ModelError):
            await anext(answer)

    async def test_closing_the_answer_cancels_the_request(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Stall("hm"))
        answer = agent.stream_chat("hello", (), "session-1")
        assert (await anext(answer))["type"] == "message"
        await answer.aclose()
        assert await asyncio.to_thread(peer.left.wait, 10)


class ToolAgentContract(ModelAgentContract):
    """Agents with tools; they use the workbench server."""

    @pytest.fixture
    def witness(self) -> Witness:
        return Witness()

    @pytest.fixture
    async def toolbox(self, witness: Witness) -> AsyncIterator[Toolbox]:
        async with Toolbox([Connection("workbench", BuiltIn(create_workbench(witness)), timeout=5)]) as toolbox:
            yield toolbox

    async def test_model_calls_a_tool_and_answers_from_its_result(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.extend([use(Use("echo", '{"text": "障害"}', "c1"), text="Let me see. "), say("It says 障害.")])
        events = await ask(agent)
        assert [event["type"] for event in events] == ["message", "tool_call", "tool_result", "message", "done"]
        assert events[1] == {"type": "tool_call", "id": "c1", "name": "echo", "arguments": {"text": "障害"}}
        assert events[2] == {
            "type": "tool_result",
            "id": "c1",
            "name": "echo",
            "content": "echo: 障害",
            "is_error": False,
        }
        assert "echo" in peer.tools(peer.seen[0])
        assert peer.results(peer.seen[1]) == [("c1", "echo: 障害")]
        assert events[-1] == {"type": "done", "usage": {"input_tokens": 14, "output_tokens": 6}}

    @pytest.mark.req("AG-1")
    async def test_the_next_turn_has_the_calls_and_results_of_this_one(
        self, agent: BaseAgent, peer: ModelServer
    ) -> None:
        """Also those that failed; the ids of an earlier answer are not used again."""
        first = Say(("Let me see. ",), (Use("echo", '{"text": "id 42"}', "c1"), Use("nothing", "{}", "c2")))
        peer.script.extend([first, say("Found id 42."), use(Use("echo", '{"text": "gone"}', "c1")), say("Deleted.")])
        parts = [dict(event) for event in await ask(agent, "find it") if event["type"] != "done"]
        turn: Turn = {"role": "assistant", "content": "Let me see. \n\nFound id 42.", "parts": parts}
        await ask(agent, "delete it", history=({"role": "user", "content": "find it"}, turn))
        assert peer.turns(peer.seen[2]) == [
            ("user", "find it"),
            ("assistant", "Let me see."),
            ("assistant", "Found id 42."),
            ("user", "delete it"),
        ]
        earlier = peer.results(peer.seen[2])
        assert [number for number, _ in earlier] == ["c1", "c2"]
        assert earlier[0][1] == "echo: id 42"
        *_, (number, content) = peer.results(peer.seen[3])
        assert content == "echo: gone"
        assert number not in ("c1", "c2")

    @pytest.mark.req("AG-3")
    async def test_reasoning_that_a_provider_refuses_is_left_out(self, agent: BaseAgent, peer: ModelServer) -> None:
        """As Anthropic does if the conversation before it has changed."""
        peer.script.extend([Say((), (Use("echo", '{"text": "x"}', "c1"),), thought="I wonder"), UNBOUND, say("ok")])
        assert text_of(await ask(agent)) == "ok"
        assert "I wonder" in json.dumps(peer.seen[1])
        assert "I wonder" not in json.dumps(peer.seen[2])
        assert peer.results(peer.seen[2]) == peer.results(peer.seen[1]) == [("c1", "echo: x")]

    @pytest.mark.req("AG-3", "AG-6")
    async def test_refused_reasoning_is_an_error_where_there_is_none(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(UNBOUND)
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert caught.value.code == "models.reasoning_refused"
        assert len(peer.seen) == 1

    @pytest.mark.req("AG-2")
    async def test_old_results_are_shortened_first_and_can_be_read_again(
        self, agent: BaseAgent, peer: ModelServer
    ) -> None:
        refusal = Refuse(400, "input is too long: the maximum context length is 3000 tokens")
        found = "start " + "x" * 9_000 + " the end"
        parts: list[dict[str, Any]] = [
            {"type": "tool_call", "id": "old", "name": "echo", "arguments": {}},
            {"type": "tool_result", "id": "old", "name": "echo", "content": found, "is_error": False},
            {"type": "message", "content": "Found."},
        ]
        history = (Turn(role="user", content="find it"), Turn(role="assistant", content="Found.", parts=parts))
        wrong = Use("read_earlier_result", '{"id": "nothing"}', "r0")
        read = Use("read_earlier_result", '{"id": "old", "start": 9000}', "r1")
        peer.script.extend([refusal, use(wrong, read), say("It ends.")])
        events = await ask(agent, "How does it end?", history=history)
        assert [event["type"] for event in events] == [*["tool_call"] * 2, *["tool_result"] * 2, "message", "done"]
        assert "read_earlier_result" not in peer.tools(peer.seen[0])
        assert "read_earlier_result" in peer.tools(peer.seen[1])
        [(_, short)] = peer.results(peer.seen[1])
        assert short.startswith("start xxx")
        assert "more characters were left out. read_earlier_result returns them for the id old." in short
        results = dict(peer.results(peer.seen[2]))
        assert results["r1"].endswith("xx the end")
        assert results["r0"] == str(Message("agents.result_unknown", ids=["old"]))

    async def test_calls_of_one_message_run_in_parallel(self, agent: BaseAgent, peer: ModelServer) -> None:
        calls = (Use("meet", '{"text": "a"}', "c1"), Use("meet", '{"text": "b"}', "c2"))
        peer.script.extend([use(*calls), say("done")])
        await ask(agent)
        assert peer.results(peer.seen[1]) == [("c1", "met: a"), ("c2", "met: b")]

    async def test_several_rounds(self, agent: BaseAgent, peer: ModelServer) -> None:
        for text in ("1", "2", "3"):
            peer.script.append(use(Use("echo", f'{{"text": "{text}"}}')))
        peer.script.append(say("enough"))
        events = await ask(agent)
        ids = [event["id"] for event in events if event["type"] == "tool_call"]
        assert len(set(ids)) == 3, "calls must be distinct even if the server gives all the same id"
        assert [text for _, text in peer.results(peer.seen[3])] == ["echo: 1", "echo: 2", "echo: 3"]

    async def test_rounds_are_limited(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.extend([use(Use("echo", '{"text": "again"}'))] * 4)
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert caught.value.reason == Message("models.too_many_tool_rounds", rounds=3)
        assert len(peer.seen) == 4
        assert "used all your tool calls" in str(peer.seen[3])

    async def test_white_space_before_a_call_is_no_answer(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.extend([use(Use("echo", '{"text": "x"}', "c1"), text="\n\n"), say("ok")])
        assert text_of(await ask(agent)).strip() == "ok"

    async def test_text_after_a_tool_starts_a_new_paragraph(self, agent: BaseAgent, peer: ModelServer) -> None:
        echo = Use("echo", '{"text": "x"}')
        before = (use(echo, text="見てみます。"), use(echo), use(echo, text="Once more.\n"))
        peer.script.extend([*before, say("\n\n", "Done.")])
        assert text_of(await ask(agent)) == "見てみます。\n\nOnce more.\n\nDone."
        assert ("assistant", "見てみます。") in peer.turns(peer.seen[1]), "the model gets its own text unchanged"

    @pytest.mark.parametrize("arguments", ["", '{"what": ', '{"what": "disk"}'])
    async def test_call_truncated_by_the_token_limit_does_not_run(
        self, agent: BaseAgent, peer: ModelServer, witness: Witness, arguments: str
    ) -> None:
        async def never(call: ToolCall) -> bool:
            raise AssertionError(call)

        calls = (Use("echo", '{"text": "y"}', "c1"), Use("erase", arguments, "c2"))
        peer.script.extend([Say((), calls, limited=True), say("in small steps, then")])
        events = await ask(agent, approve=never)
        assert witness.erased == []
        assert not any("approval" in event for event in events)
        (_, first), (name, second) = peer.results(peer.seen[1])
        assert (first, name) == ("echo: y", "c2")
        assert second == str(Message("agents.call_truncated"))
        assert "finish" not in events[-1]

    async def test_calls_of_a_filtered_answer_do_not_run(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(Say(("Now",), (Use("echo", '{"text": "x"}'),), filtered=True))
        assert [event["type"] for event in await ask(agent)] == ["message", "done"]

    @pytest.mark.parametrize("arguments", ['{"text": ', "[1]", '"x"'])
    async def test_malformed_arguments_are_reported_to_the_model(
        self, agent: BaseAgent, peer: ModelServer, arguments: str
    ) -> None:
        peer.script.extend([use(Use("echo", arguments, "c1")), say("sorry")])
        events = await ask(agent)
        assert [event.get("code") for event in events if event["type"] == "tool_result"] == ["agents.arguments_invalid"]
        assert "not a JSON object" in peer.results(peer.seen[1])[0][1]

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (Use("fail"), str(Message("toolbox.server_not_found"))),
            (Use("nonsense"), str(Message("agents.tool_unknown"))),
            (Use("echo", '{"txt": 1}'), "text is required"),
        ],
        ids=["failing", "unknown", "invalid arguments"],
    )
    async def test_failed_call_is_reported_to_the_model(
        self, agent: BaseAgent, peer: ModelServer, call: Use, text: str
    ) -> None:
        peer.script.extend([use(call), say("then not")])
        events = await ask(agent)
        [result] = [event for event in events if event["type"] == "tool_result"]
        assert (result["is_error"], bool(result.get("code"))) == (True, True)
        assert text in peer.results(peer.seen[1])[0][1]
        assert text_of(events) == "then not"

    async def test_long_result_is_truncated_with_a_marker(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.extend([use(Use("lines", '{"count": 5000}')), say("long")])
        await ask(agent)
        [(_, text)] = peer.results(peer.seen[1])
        assert text == "x" * 1000 + "\n[truncated: these are the first 1000 of 5000 characters]"

    @pytest.mark.parametrize("tool", ["erase", "unmarked"])
    async def test_destructive_tool_waits_for_approval(
        self, agent: BaseAgent, peer: ModelServer, witness: Witness, tool: str
    ) -> None:
        peer.script.extend([use(Use(tool, '{"what": "disk"}', "c1")), say("gone")])
        asked: list[ToolCall] = []
        announced: list[Event] = []

        async def approve(call: ToolCall) -> bool:
            asked.append(call)
            assert [event["type"] for event in announced] == ["tool_call"]
            assert witness.erased == []
            return True

        async for event in agent.stream_chat("hello", (), "session-1", approve=approve):
            announced += [event]
        [call] = asked
        assert call["preview"]["danger"] == "delete"
        assert {name: value for name, value in call.items() if name not in ("definition", "preview")} == {
            "type": "tool_call", "id": "c1", "name": tool, "arguments": {"what": "disk"}, "approval": "required",
        }  # fmt: skip
        assert witness.erased == ["disk"]

    @pytest.mark.parametrize("approve", [None, reject], ids=["no approver", "rejected"])
    async def test_destructive_tool_does_not_run_without_approval(
        self, agent: BaseAgent, peer: ModelServer, witness: Witness, approve: Approve | None
    ) -> None:
        peer.script.extend([use(Use("erase", '{"what": "disk"}')), say("very well")])
        await ask(agent, approve=approve)
        assert witness.erased == []
        assert peer.results(peer.seen[1])[0][1] == str(Message("agents.call_rejected"))

    async def test_tools_that_only_add_or_read_need_no_approval(self, agent: BaseAgent, peer: ModelServer) -> None:
        async def never(call: ToolCall) -> bool:
            raise AssertionError(call)

        peer.script.extend([use(Use("add", '{"what": "x"}', "c1"), Use("echo", '{"text": "y"}', "c2")), say("ok")])
        events = await ask(agent, approve=never)
        assert {event["content"] for event in events if event["type"] == "tool_result"} == {"added x", "echo: y"}

    async def test_call_that_waits_for_approval_does_not_delay_the_others(
        self, agent: BaseAgent, peer: ModelServer
    ) -> None:
        peer.script.extend([use(Use("erase", '{"what": "x"}', "c1"), Use("echo", '{"text": "y"}', "c2")), say("ok")])
        answered = asyncio.Event()

        async def approve(_: ToolCall) -> bool:
            await answered.wait()
            return True

        order: list[str] = []
        async for event in agent.stream_chat("hello", (), "session-1", approve=approve):
            if event["type"] == "tool_result":
                order.append(event["id"])
                answered.set()
        assert order == ["c2", "c1"]

    async def test_closing_the_answer_cancels_the_tool(
        self, agent: BaseAgent, peer: ModelServer, witness: Witness
    ) -> None:
        peer.script.append(use(Use("hang")))
        answer = agent.stream_chat("hello", (), "session-1")
        assert (await anext(answer))["type"] == "tool_call"
        waiting = asyncio.create_task(anext(answer))
        await witness.started.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await answer.aclose()
        await asyncio.wait_for(witness.cancelled.wait(), 10)

    async def test_closing_the_answer_at_a_result_cancels_the_other_calls(
        self, agent: BaseAgent, peer: ModelServer, witness: Witness
    ) -> None:
        peer.script.append(use(Use("hang", id="c1"), Use("echo", '{"text": "x"}', "c2")))
        answer = agent.stream_chat("hello", (), "session-1")
        assert [(await anext(answer))["type"] for _ in range(3)] == ["tool_call", "tool_call", "tool_result"]
        await witness.started.wait()
        await answer.aclose()
        await asyncio.wait_for(witness.cancelled.wait(), 10)


@pytest.fixture
def settings() -> ChatSettings:
    """Short limits keep the tests fast."""
    return ChatSettings(chie_model_timeout=0.5, chie_tool_rounds=3, chie_tool_result_limit=1000)
