"""The agent without a model, on the real knowledge server."""

import html
import re
from collections.abc import AsyncIterator

import pytest
from fastmcp import Client
from markdown_it import MarkdownIt
from tests.contract.agent import AgentContract, ask, text_of

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.excerpts import MAX_EXCERPT, excerpt
from chie.chat.agents.notes import NotesAgent
from chie.chat.agents.profile import Profile
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie.errors import ServiceError
from chie.knowledge.server import create_server
from chie.knowledge.settings import KnowledgeSettings
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message

PORT = "Docker cannot bind port 8080 when AirPlay holds it. Turn AirPlay Receiver off in System Settings."
DNS = "社内DNSが引けないときはVPNクライアントを再起動する。それでも駄目なら resolv.conf を確認する。"


@pytest.fixture
async def knowledge() -> Server:
    server = create_server(KnowledgeSettings())
    async with Client(server) as client:
        await client.call_tool("save_knowledge", {"content": PORT, "title": "Port 8080 is taken", "source": "ops#12"})
        await client.call_tool("save_knowledge", {"content": DNS, "title": "DNSが引けない"})
    return create_server(KnowledgeSettings())


@pytest.mark.req("CH-1")
class TestNotesAgent(AgentContract):
    @pytest.fixture
    async def agent(self, knowledge: Server) -> AsyncIterator[BaseAgent]:
        async with Toolbox([Connection("knowledge", BuiltIn(knowledge))]) as toolbox:
            yield NotesAgent(Profile(id="notes"), toolbox)

    def prepare(self, request: pytest.FixtureRequest) -> str:  # noqa: ARG002
        return "No language model is connected"

    async def test_best_note_is_quoted_first_with_its_source(self, agent: BaseAgent) -> None:
        events = await ask(agent, "Why can Docker not use port 8080?")
        text = text_of(events)
        assert text.startswith("No language model is connected, so no answer was generated.")
        assert f"1. **Port 8080 is taken**\n\n   > {PORT}\n\n   ops#12 · 20" in text
        assert "`k-" in text
        assert [event["type"] for event in events][:2] == ["tool_call", "tool_result"]
        assert events[0]["type"] == "tool_call"
        assert events[0]["name"] == "search_knowledge"

    async def test_reply_is_in_the_language_of_the_question(self, agent: BaseAgent) -> None:
        text = text_of(await ask(agent, "DNSが引けないときはどうする?"))
        assert text.startswith("言語モデルが接続されていないため")
        assert f"1. **DNSが引けない**\n\n   > {DNS}" in text

    @pytest.mark.parametrize(
        "title",
        [
            "Q&amp;A &lt;b&gt; &#65;",
            "<b>太字</b> と *星*",
            "[1] `code` \\\\ \\* a_b _c_ ~~d~~",
            "R&D; 研究&開発",
            "![x](y)",
        ],
    )
    async def test_title_and_source_are_shown_as_they_are(self, agent: BaseAgent, title: str) -> None:
        assert isinstance(agent, NotesAgent)
        note = {"content": "Zebras sleep standing up.", "title": title, "source": title}
        await agent._toolbox.initialize_servers(["knowledge"])
        await agent._toolbox.call_tool("save_knowledge", note)
        text = text_of(await ask(agent, "How do zebras sleep?"))
        shown = re.sub(r"<[^>]+>", "", MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text))
        assert shown.count(html.escape(title)) == 2

    @pytest.mark.req("AG-15")
    async def test_dollars_in_a_title_make_no_formula(self, agent: BaseAgent) -> None:
        assert isinstance(agent, NotesAgent)
        await agent._toolbox.initialize_servers(["knowledge"])
        await agent._toolbox.call_tool("save_knowledge", {"content": "Zebras sleep standing up.", "title": "$x$の値"})
        assert "**\\$x\\$の値**" in text_of(await ask(agent, "How do zebras sleep?"))

    async def test_notes_are_found_across_languages(self, agent: BaseAgent) -> None:
        text = text_of(await ask(agent, "ポート8080が使えない"))
        assert "1. **Port 8080 is taken**" in text

    @pytest.mark.req("SE-4")
    @pytest.mark.parametrize(
        ("question", "quoted", "left_out"),
        [
            ('port 8080 "AirPlay Receiver"', "Port 8080", "DNS"),
            ("VPN 社内DNS -docker", "DNSが引けない", "Port 8080"),
            ("VPN 社内DNS before:2000", "", "DNSが引けない"),
        ],
    )
    async def test_filters_in_the_question_narrow_the_search(
        self, agent: BaseAgent, question: str, quoted: str, left_out: str
    ) -> None:
        text = text_of(await ask(agent, question))
        assert quoted in text
        assert left_out not in text

    async def test_reply_if_no_note_matches(self, agent: BaseAgent) -> None:
        text = text_of(await ask(agent, "How long do penguins sleep?"))
        assert "none of the team's notes matches your question" in text
        assert "add an endpoint under Settings" in text

    async def test_pasted_log_is_searched_by_its_beginning(self, agent: BaseAgent) -> None:
        text = text_of(await ask(agent, "Docker cannot bind port 8080\x00\x1b[31m " + "log line\n" * 5000))
        assert "1. **Port 8080 is taken**" in text


async def test_unconfigured_knowledge_server_makes_the_agent_unavailable() -> None:
    reason = Message("toolbox.program_not_found", command="x")
    async with Toolbox([], unconfigured={"knowledge": reason}) as toolbox:
        agent = NotesAgent(Profile(id="notes"), toolbox)
        info = await agent.get_agent_info()
        assert (info["reason"], info["reason_code"], info["reason_params"]) == (
            str(reason),
            reason.code,
            {"command": "x"},
        )
        with pytest.raises(ServiceError) as caught:
            await ask(agent)
    assert caught.value.reason == reason


async def test_missing_knowledge_server_makes_the_agent_unavailable() -> None:
    async with Toolbox([]) as toolbox:
        info = await NotesAgent(Profile(id="notes"), toolbox).get_agent_info()
    assert info["reason_code"] == "agents.knowledge_missing"


def test_short_passage_is_quoted_whole() -> None:
    assert excerpt(" 一行だけ。 ", "何?") == "一行だけ。"


@pytest.mark.parametrize("number", [0, 40, 99])
def test_long_passage_is_quoted_from_the_matching_sentence(number: int) -> None:
    sentences = [f"Sentence {i} is about nothing at all. " for i in range(100)]
    sentences[number] = "The certificate expires in March. "
    quoted = excerpt("".join(sentences), "When does the certificate expire?")
    assert "The certificate expires in March." in quoted
    assert len(quoted) <= MAX_EXCERPT + 2
