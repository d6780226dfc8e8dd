"""The chat with agents of every kind of model, whose servers are on loopback, as a client of `/v1` sees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from openai import AsyncOpenAI
from sqlalchemy import URL
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.chat import NO_PAGE, serving, sqlite_url
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.workbench import Witness, create_workbench

from chie.app import create_app
from chie.chat.agents.builtin import build_aws, build_default, build_notes, build_openai
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.agents.registry import AgentFactory
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn
from chie_agent_adk.agent import create_agent


@dataclass
class ModelApp:
    """`chat` only talks, `tools` has the workbench; both are on `openai`. `adk` uses `anthropic`, `aws` `bedrock`."""

    url: str
    client: AsyncOpenAI
    openai: OpenAIServer
    anthropic: AnthropicServer
    bedrock: ConverseServer


@asynccontextmanager
async def open_model_app(folder: Path, settings: ChatSettings, url: URL | None = None) -> AsyncIterator[ModelApp]:
    """The environment must have credentials for AWS, and the URL of the server as its endpoint."""
    with OpenAIServer() as openai, AnthropicServer() as anthropic, ConverseServer() as bedrock:
        toolbox = Toolbox([Connection("workbench", BuiltIn(create_workbench(Witness())))])
        needs = AgentDependencies(settings, toolbox, ["workbench"])
        agents = [
            build_default(Profile(id="chat", base_url=openai.base_url), needs),
            build_openai(Profile(id="tools", base_url=openai.base_url), needs),
            create_agent(Profile(id="adk", base_url=anthropic.address, api_key="sk-ant-1"), needs),
            build_aws(Profile(id="aws"), needs),
            build_notes(Profile(id="notes"), needs),
        ]
        async with toolbox:
            chat = ChatModule(url or sqlite_url(folder))
            app = create_app({}, nullcontext(AgentFactory(toolbox, agents)), chat=chat, page=NO_PAGE)
            async with (
                serving(app) as address,
                AsyncOpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0, timeout=60) as client,
            ):
                yield ModelApp(address, client, openai, anthropic, bedrock)
            for agent in agents:
                await agent.close()
