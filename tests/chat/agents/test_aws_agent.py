"""AWSAgent: boto3 against a loopback server that speaks Bedrock's Converse stream."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.agent import ToolAgentContract, ask, settings
from tests.fakes.bedrock_converse import ConverseServer, event, fault
from tests.fakes.model_server import Refuse, Say, Use, say

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.agents.builtin import build_aws
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.models.errors import ModelError
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox
from chie.messages.catalogue import Message

__all__ = ["settings"]

CODES = {"key_rejected": "credentials_rejected", "rate_limited": "throttled", "server_failed": "failed"}


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
    def code(self, error: str) -> str:
        if error.startswith(("answer_", "reasoning_")):
            return super().code(error)
        return f"models.bedrock_{CODES.get(error, error)}"

    @pytest.fixture
    async def agent(
        self,
        peer: ConverseServer,  # noqa: ARG002  it sets the environment
        toolbox: Toolbox,
        settings: ChatSettings,
    ) -> AsyncIterator[BaseAgent]:
        agent = build_aws(Profile(id="aws"), AgentDependencies(settings, toolbox, ["workbench"]))
        yield agent
        await agent.close()

    @pytest.mark.req("AG-3")
    async def test_reasoning_is_returned_with_the_results_and_its_signature(
        self, agent: BaseAgent, peer: ConverseServer
    ) -> None:
        peer.script.extend([Say((), (Use("echo", '{"text": "x"}', "c1"),), thought="I wonder"), say("ok")])
        await ask(agent)
        block = peer.seen[1]["messages"][1]["content"][0]
        assert block == {"reasoningContent": {"reasoningText": {"text": "I wonder", "signature": "signed"}}}

    @pytest.mark.req("AG-6")
    async def test_setting_of_the_model_is_named(
        self, peer: ConverseServer, toolbox: Toolbox, settings: ChatSettings
    ) -> None:
        """That of the agent, if it has a model of its own."""
        for model, named in ((None, "`CHIE_AWS_MODEL`"), ("amazon.nova-pro-v1:0", "`model` in `agents.json`")):
            peer.script.append(Refuse(404))
            agent = build_aws(Profile(id="aws", model=model), AgentDependencies(settings, toolbox, ["workbench"]))
            with pytest.raises(ModelError) as caught:
                await ask(agent)
            await agent.close()
            assert f"Correct {named} or `AWS_REGION`." in caught.value.message

    @pytest.mark.req("AG-3")
    async def test_model_is_asked_for_a_summary_of_its_thinking(self, agent: BaseAgent, peer: ConverseServer) -> None:
        """Which takes tokens of the answer."""
        peer.script.append(say("ok"))
        await ask(agent)
        [request] = peer.seen
        thinking = {"type": "adaptive", "display": "summarized"}
        assert request["additionalModelRequestFields"] == {"thinking": thinking}
        assert request["inferenceConfig"]["maxTokens"] == 32_000

    @pytest.mark.req("CH-4", "CH-4-2")
    @pytest.mark.parametrize(
        ("model", "sent"),
        [
            ("anthropic.claude-3-5-sonnet-20240620-v1:0", {"maxTokens": 4_096}),
            ("apac.anthropic.claude-3-5-sonnet-20241022-v2:0", {"maxTokens": 8_192}),
            ("anthropic.claude-3-haiku-20240307-v1:0", {"maxTokens": 4_096}),
            ("global.anthropic.claude-sonnet-5", {"maxTokens": 32_000}),
            ("meta.llama3-70b-instruct-v1:0", {}),
            ("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", {}),
        ],
    )
    async def test_answer_is_not_longer_than_the_model_writes(
        self, peer: ConverseServer, toolbox: Toolbox, settings: ChatSettings, model: str, sent: dict[str, int]
    ) -> None:
        """Bedrock refuses a larger number. Of a model that is not known none is sent."""
        agent = build_aws(Profile(id="aws", model=model), AgentDependencies(settings, toolbox, ["workbench"]))
        peer.script.append(say("ok"))
        await ask(agent)
        await agent.close()
        assert peer.seen[0]["inferenceConfig"] == sent

    @pytest.mark.parametrize(
        ("model", "points"),
        [
            ("global.anthropic.claude-sonnet-5", 4),
            ("anthropic.claude-3-7-sonnet-20250219-v1:0", 4),
            ("apac.amazon.nova-pro-v1:0", 3),
            ("anthropic.claude-3-haiku-20240307-v1:0", 0),
            ("meta.llama3-70b-instruct-v1:0", 0),
        ],
    )
    async def test_what_the_next_request_repeats_is_marked_for_the_cache(
        self, peer: ConverseServer, toolbox: Toolbox, settings: ChatSettings, model: str, points: int
    ) -> None:
        """Where the model takes it; others refuse such a request."""
        agent = build_aws(Profile(id="aws", model=model), AgentDependencies(settings, toolbox, ["workbench"]))
        peer.script.append(say("ok"))
        history = (Turn(role="user", content="one"), Turn(role="assistant", content="two"))
        await ask(agent, "three", history=history)
        [request] = peer.seen
        point = {"cachePoint": {"type": "default"}}
        assert str(request).count("cachePoint") == points
        if points:
            assert request["system"][-1] == point
            assert request["messages"][0]["content"] == [{"text": "one"}, point]
            assert request["messages"][-1]["content"] == [{"text": "three"}, point]
        assert (request["toolConfig"]["tools"][-1] == point) is (points == 4)

    async def test_cached_tokens_are_counted_as_input(
        self, agent: BaseAgent, peer: ConverseServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = {"inputTokens": 7, "outputTokens": 3, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 90}

        def frames(_: Say) -> Iterator[bytes]:
            yield event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "x"}})
            yield event("messageStop", {"stopReason": "end_turn"})
            yield event("metadata", {"usage": {**usage, "totalTokens": 1_000}, "metrics": {"latencyMs": 1}})

        monkeypatch.setattr(peer, "frames", frames)
        peer.script.append(say())
        counted = {"input_tokens": 997, "output_tokens": 3, "cached_tokens": 900, "cache_write_tokens": 90}
        assert (await ask(agent))[-1]["usage"] == counted  # type: ignore[typeddict-item]

    async def test_error_within_the_stream_has_a_code(
        self, agent: BaseAgent, peer: ConverseServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def frames(_: Say) -> Iterator[bytes]:
            yield event("messageStart", {"role": "assistant"})
            yield fault("throttlingException")

        monkeypatch.setattr(peer, "frames", frames)
        peer.script.append(say())
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        assert caught.value.code == "models.bedrock_throttled"

    @pytest.mark.req("CH-4")
    async def test_errors_name_region_and_model(self, toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
        chosen = ChatSettings(aws_region="us-west-2", chie_aws_model="my-model")
        agent = build_aws(Profile(id="aws"), AgentDependencies(chosen, toolbox, []))
        with pytest.raises(ModelError) as caught:
            await ask(agent)
        told: dict[str, Any] = {
            "region": "us-west-2",
            "model": "my-model",
            "setting": Message("models.aws_credentials"),
        }
        assert caught.value.reason == Message("models.bedrock_profile_not_found", **told)


async def test_missing_credentials_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    info = await build_aws(Profile(id="aws"), AgentDependencies(ChatSettings(), Toolbox([]), [])).get_agent_info()
    assert (info["available"], info["reason_code"]) == (False, "agents.aws_credentials_missing")
    assert info["reason"] == str(Message("agents.aws_credentials_missing"))
    assert (info["name"], info["name_code"], info["description_code"]) == (
        "Claude on AWS",
        "agents.aws_name",
        "agents.aws_description",
    )


async def test_configured_model_makes_the_agent_available_without_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = ChatSettings(chie_aws_model="my-model")
    info = await build_aws(Profile(id="aws"), AgentDependencies(settings, Toolbox([]), [])).get_agent_info()
    assert (info["available"], info["model"]) == (True, "my-model")


LAMBDA = """
import asyncio
from chie.chat.agents.builtin import build_aws
from chie.chat.agents.profile import Profile
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox

async def main():
    agent = build_aws(Profile(id="aws"), AgentDependencies(ChatSettings(), Toolbox([]), []))
    print((await agent.get_agent_info())["available"])
    async for event in agent.stream_chat("hi", [], "s"):
        print(event)

asyncio.run(main())
"""


@pytest.mark.req("CH-4")
def test_agent_runs_in_an_environment_like_lambda(tmp_path: Path) -> None:
    """Keys and region in variables, and no home folder."""
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
