"""DefaultAgent and OpenAIAgent against a loopback server that speaks OpenAI's protocol."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.contract.agent import ModelAgentContract, ToolAgentContract, ask, settings
from tests.fakes.model_server import ModelServer, Refuse, say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.builtin import build_default, build_openai
from chie.chat.agents.calls import agent_info
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.models.errors import ModelError
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox

__all__ = ["settings"]


@pytest.fixture
def peer() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.mark.req("CH-1", "CH-2")
class TestDefaultAgent(ModelAgentContract):
    @pytest.fixture
    async def agent(self, peer: OpenAIServer, settings: ChatSettings) -> AsyncIterator[BaseAgent]:
        profile = Profile(id="default-chat", base_url=peer.base_url)
        agent = build_default(profile, AgentDependencies(settings, Toolbox([]), []))
        yield agent
        await agent.close()

    @pytest.mark.req("CH-2")
    async def test_it_offers_no_tools(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("x"))
        await ask(agent)
        assert "tools" not in peer.seen[0]
        assert agent.supports_mcp() is False

    async def test_first_listed_chat_model_is_used(self, agent: BaseAgent, peer: ModelServer) -> None:
        peer.script.append(say("x"))
        await ask(agent)
        assert peer.seen[0]["model"] == "qwen3-8b"
        assert (await agent_info(agent))["model"] == "qwen3-8b"


@pytest.mark.req("AG-6")
async def test_setting_of_the_model_is_named(peer: OpenAIServer) -> None:
    """That of the agent, if it has a model of its own on the common endpoint."""
    settings = ChatSettings(openai_base_url=peer.base_url, chie_model="common")
    for model, named in ((None, "`CHIE_MODEL`"), ("own", "`model` in `agents.json`")):
        peer.script.append(Refuse(404))
        agent = build_default(Profile(id="x", model=model), AgentDependencies(settings, Toolbox([]), []))
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        await agent.close()
        assert f"the model {model or 'common'}" in caught.value.message
        assert f"set {named}, or" in caught.value.message


@pytest.mark.req("CH-1", "CH-3", "CH-8")
class TestOpenAIAgent(ToolAgentContract):
    @pytest.fixture
    async def agent(self, peer: OpenAIServer, toolbox: Toolbox, settings: ChatSettings) -> AsyncIterator[BaseAgent]:
        profile = Profile(id="openai", base_url=peer.base_url, model="some-model")
        agent = build_openai(profile, AgentDependencies(settings, toolbox, ["workbench"]))
        yield agent
        await agent.close()
