"""AWSAgent: boto3 against a loopback server that speaks Bedrock's Converse stream."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.contract.agent import ToolAgentContract, ask, settings
from tests.fakes.bedrock_converse import ConverseServer, event, fault
from tests.fakes.model_server import Say, Use, say

from chie.chat.agents.base import BaseAgent
from chie.chat.agents.dependencies import Workshop
from chie.chat.agents.kinds import make_aws
from chie.chat.agents.profile import Profile
from chie.chat.models.base import ModelError
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox

__all__ = ["settings"]


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConverseServer]:
    with ConverseServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-long-secret")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        yield server


@pytest.mark.req("CH-1", "CH-4", "CH-8")
class TestAWSAgent(ToolAgentContract):
    @pytest.fixture
    async def agent(
        self,
        peer: ConverseServer,  # noqa: ARG002  it sets the environment
        toolbox: Toolbox,
        settings: ChatSettings,
    ) -> AsyncIterator[BaseAgent]:
        agent = make_aws(Profile(id="aws"), Workshop(settings, toolbox, ["workbench"]))
        yield agent
        await agent.close()

    async def test_its_thoughts_go_back_with_the_results_and_are_not_shown(
        self, agent: BaseAgent, peer: ConverseServer
    ) -> None:
        peer.script.extend([Say((), (Use("echo", '{"text": "x"}', "c1"),), thought="I wonder"), say("ok")])
        events = await ask(agent)
        assert "wonder" not in str(events)
        block = peer.seen[1]["messages"][1]["content"][0]
        assert block == {"reasoningContent": {"reasoningText": {"text": "I wonder", "signature": "signed"}}}

    async def test_a_fault_within_the_stream_is_told_in_our_words(
        self, agent: BaseAgent, peer: ConverseServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def frames(_: Say) -> Iterator[bytes]:
            yield event("messageStart", {"role": "assistant"})
            yield fault("throttlingException")

        monkeypatch.setattr(peer, "frames", frames)
        peer.script.append(say())
        with pytest.raises(ModelError, match="is busy, or the quota is used up"):
            await ask(agent)

    @pytest.mark.req("CH-4")
    async def test_region_and_model_are_named_when_something_is_wrong(
        self, toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
        chosen = ChatSettings(aws_region="us-west-2", chie_aws_model="my-model")
        agent = make_aws(Profile(id="aws"), Workshop(chosen, toolbox, []))
        with pytest.raises(ModelError, match=r"us-west-2 \(my-model\) needs the profile that AWS_PROFILE names"):
            await ask(agent)


async def test_without_credentials_it_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    info = await make_aws(Profile(id="aws"), Workshop(ChatSettings(), Toolbox([]), [])).get_agent_info()
    assert info.available is False
    assert info.reason is not None
    assert "AWS_PROFILE" in info.reason


async def test_where_a_role_gives_credentials_naming_the_model_makes_it_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = ChatSettings(chie_aws_model="my-model")
    info = await make_aws(Profile(id="aws"), Workshop(settings, Toolbox([]), [])).get_agent_info()
    assert (info.available, info.model) == (True, "my-model")


LAMBDA = """
import asyncio
from chie.chat.agents.kinds import make_aws
from chie.chat.agents.profile import Profile
from chie.chat.agents.dependencies import Workshop
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox

async def main():
    agent = make_aws(Profile(id="aws"), Workshop(ChatSettings(), Toolbox([]), []))
    print((await agent.get_agent_info()).available)
    async for event in agent.stream_chat("hi", [], "s"):
        print(event)

asyncio.run(main())
"""


@pytest.mark.req("CH-4")
def test_it_runs_with_what_lambda_gives_and_no_home(tmp_path: Path) -> None:
    """Lambda's environment: keys and region in variables, a home that does not exist, nowhere to write but /tmp."""
    with ConverseServer(say("from ", "Tokyo")) as server:
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/nonexistent",
            "AWS_REGION": "ap-northeast-1",
            "AWS_LAMBDA_FUNCTION_NAME": "chie",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "a-long-secret",
            "AWS_SESSION_TOKEN": "a-session",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.address,
        }
        done = subprocess.run(
            [sys.executable, "-c", LAMBDA],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    first, *events = done.stdout.splitlines()
    assert first == "True"
    assert "Tokyo" in "".join(events)
    assert "a-session" in json.dumps(server.headers[0])
