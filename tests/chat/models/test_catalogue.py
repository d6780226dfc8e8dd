"""The catalogue of models: what every endpoint offers, and the adapter of a chosen model."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from io import BytesIO
from typing import Any, cast

import httpx2
import pytest
from botocore.awsrequest import AWSResponse
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.bedrock_models import BedrockModels
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer
from urllib3.response import HTTPResponse

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.models import openai_endpoint
from chie.chat.models.aws_client import aws_client
from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.catalogue import ModelCatalogue
from chie.chat.models.chunks import TextDelta
from chie.chat.models.messages import UserMessage
from chie.chat.models.model_names import display_name
from chie.chat.models.provider import EndpointSpec
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import ChieError, NotFoundError
from chie.settings import load
from chie.setup import local_servers
from chie_agent_adk.agent import create_model

pytestmark = pytest.mark.req("AG-5")


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer(models=("text-embedding-3-small", "davinci-002", "gpt-4o", "/models/日本語-7b.gguf")) as server:
        yield server


@pytest.fixture
def anthropic() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockModels]:
    with BedrockModels() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-long-secret")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield server


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """A function that opens the app's client; the environment is complete by then."""
    monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
    monkeypatch.setattr(openai_endpoint, "ERROR_CACHE_SECONDS", 0.0)
    opened: list[Any] = []

    async def listing() -> list[dict[str, Any]]:
        if not opened:
            app = create_app({}, open_agents(load(ChatSettings), {}), page=NO_PAGE)
            running = serving(app)
            opened.append((running, httpx2.AsyncClient(base_url=await running.__aenter__(), timeout=60)))
        answer = await opened[0][1].get("/api/models")
        assert answer.status_code == 200, answer.text
        endpoints: list[dict[str, Any]] = answer.json()["endpoints"]
        return endpoints

    yield listing
    for running, opened_client in opened:
        await opened_client.aclose()
        await running.__aexit__(None, None, None)


def ids(endpoint: dict[str, Any]) -> list[str]:
    return [model["id"] for model in endpoint["models"]]


async def test_every_endpoint_is_listed_with_its_chat_models(
    client: Any,
    openai: OpenAIServer,
    anthropic: AnthropicServer,
    bedrock: BedrockModels,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic.address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    own, claude, aws = await client()
    assert ids(own) == ["own/gpt-4o", "own//models/日本語-7b.gguf"]
    unknown = own["models"][1]
    assert (unknown["id"], unknown["name"], unknown["sees_images"]) == (
        "own//models/日本語-7b.gguf",
        "日本語-7b",
        False,
    )
    assert [one["name"] for one in unknown["parameters"]] == ["temperature", "max_tokens"]
    assert own["models"][0]["sees_images"] is True
    assert ids(claude) == ["anthropic/claude-opus-5", "anthropic/claude-sonnet-5"]
    assert ids(aws) == [
        "bedrock/global.anthropic.claude-sonnet-5",
        "bedrock/jp.anthropic.claude-haiku-4-5-20251001-v1:0",
        "bedrock/amazon.nova-lite-v1:0",
    ]
    assert [(one["id"], one["kind"], one["error"]) for one in (own, claude, aws)] == [
        ("own", "openai", None),
        ("anthropic", "anthropic", None),
        ("bedrock", "bedrock", None),
    ]


async def test_endpoint_that_fails_hides_no_other(
    client: Any, openai: OpenAIServer, bedrock: BedrockModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    bedrock.denied = True
    monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    own, claude, aws = await client()
    assert len(own["models"]) == 2
    assert (claude["error_code"], ids(claude)) == (
        "models.local_server_unreachable",
        ["anthropic/claude-sonnet-5"],
    )
    assert aws["error_code"] == "models.bedrock_list_denied"
    assert "bedrock:ListFoundationModels" in aws["error"]
    assert ids(aws) == ["bedrock/global.anthropic.claude-sonnet-5"]  # the configured one may still work


async def test_local_server_is_shown_once_it_has_responded(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as running:
        ollama = running.enter_context(OpenAIServer(models=("qwen3:8b",)))
        monkeypatch.setattr(local_servers, "LM_STUDIO", "http://127.0.0.1:9/v1")
        monkeypatch.setattr(local_servers, "OLLAMA", ollama.base_url)
        [found] = await client()
        assert (found["id"], found["name"], ids(found)) == ("ollama", "Ollama", ["ollama/qwen3:8b"])
        running.close()
        [gone] = await client()
        assert (gone["error_code"], gone["models"]) == ("models.local_server_unreachable", [])
        running.enter_context(ollama)
        assert ids((await client())[0]) == ["ollama/qwen3:8b"]


@pytest.fixture
def dependencies(monkeypatch: pytest.MonkeyPatch) -> AgentDependencies:
    monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
    monkeypatch.setattr(openai_endpoint, "ERROR_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(local_servers, "LM_STUDIO", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(local_servers, "OLLAMA", "http://127.0.0.1:9/v1")
    found = AgentDependencies(load(ChatSettings), Toolbox([]), [])
    found.offer_anthropic(create_model)
    return found


@pytest.fixture
async def catalogue(dependencies: AgentDependencies) -> AsyncIterator[ModelCatalogue]:
    yield dependencies.catalogue
    await dependencies.catalogue.close()


def stored(catalogue: ModelCatalogue, *specs: EndpointSpec) -> list[EndpointSpec]:
    """The list that the catalogue reads from now on; a test may change it."""
    listed = list(specs)

    async def source() -> list[EndpointSpec]:
        return listed

    catalogue.use(source)
    return listed


async def answer(model: ChatModel) -> str:
    prompt = Prompt(system="", messages=[UserMessage("こんにちは")])
    return "".join([chunk.text async for chunk in model.stream(prompt) if isinstance(chunk, TextDelta)])


async def test_reference_with_slashes_gives_the_model_once(catalogue: ModelCatalogue, openai: OpenAIServer) -> None:
    openai.models = ("openai/gpt-4o", "qwen3")
    openai.script.extend([say("はい"), say("yes")])
    stored(catalogue, EndpointSpec(id="router", kind="openai", name="Router", url=openai.base_url, api_key="sk-1"))
    model = await catalogue.model("router/openai/gpt-4o")
    assert await answer(model) == "はい"
    assert openai.seen[0]["model"] == "openai/gpt-4o"
    assert openai.headers[0]["authorization"] == "Bearer sk-1"
    assert await catalogue.model("router/openai/gpt-4o") is model
    assert await answer(await catalogue.model("router/qwen3")) == "yes"


async def test_stored_endpoints_of_every_kind_answer(
    catalogue: ModelCatalogue,
    anthropic: AnthropicServer,
    bedrock: BedrockModels,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    anthropic.script.append(say("from Anthropic"))
    with ConverseServer(say("from Bedrock")) as converse:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", converse.address)
        stored(
            catalogue,
            EndpointSpec(id="claude", kind="anthropic", name="Claude", url=anthropic.address, api_key="sk-ant-2"),
            EndpointSpec(id="tokyo", kind="bedrock", name="Tokyo", region="ap-northeast-1"),
        )
        assert await answer(await catalogue.model("claude/claude-opus-5")) == "from Anthropic"
        assert await answer(await catalogue.model("tokyo/amazon.nova-lite-v1:0")) == "from Bedrock"
    assert "sk-ant-2" in str(anthropic.headers[0])
    assert anthropic.seen[0]["model"] == "claude-opus-5"


def test_bedrock_key_is_sent_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 sends one over TLS only, so the request is taken before it leaves."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-long-secret")
    client: Any = aws_client("bedrock", region="us-west-2", api_key="bedrock-key")
    sent = []

    def take(request: Any, **_: object) -> Any:
        sent.append(request.headers["Authorization"])
        body = HTTPResponse(BytesIO(b'{"modelSummaries": []}'), preload_content=False)
        return AWSResponse(request.url, 200, cast("Any", {}), body)

    client.meta.events.register("before-send.bedrock.*", take)
    client.list_foundation_models()
    assert [value if isinstance(value, str) else value.decode() for value in sent] == ["Bearer bedrock-key"]


async def test_changed_endpoint_takes_the_place_of_the_old_one(catalogue: ModelCatalogue, openai: OpenAIServer) -> None:
    openai.script.extend([say("one"), say("two")])
    spec = EndpointSpec(id="e1", kind="openai", name="First", url=openai.base_url, api_key="sk-old")
    listed = stored(catalogue, spec)
    before = await catalogue.model("e1/gpt-4o")
    await answer(before)
    listed[:] = [EndpointSpec(id="e1", kind="openai", name="First", url=openai.base_url, api_key="sk-new")]
    after = await catalogue.model("e1/gpt-4o")
    assert after is not before
    await answer(after)
    assert [headers["authorization"] for headers in openai.headers] == ["Bearer sk-old", "Bearer sk-new"]
    listed.clear()
    assert await catalogue.models() == []
    with pytest.raises(NotFoundError) as caught:
        await catalogue.model("e1/gpt-4o")
    assert caught.value.code == "models.endpoint_missing"


async def test_running_answer_keeps_the_model_of_an_endpoint_that_is_removed(
    catalogue: ModelCatalogue, openai: OpenAIServer
) -> None:
    openai.script.extend([say("one"), say("two")])
    listed = stored(catalogue, EndpointSpec(id="e1", kind="openai", name="First", url=openai.base_url))
    model = await catalogue.model("e1/gpt-4o")
    assert await answer(model) == "one"
    listed.clear()
    assert await catalogue.models() == []
    assert await answer(model) == "two", "the next round of tool calls"


async def test_model_that_is_gone_says_to_choose_another(catalogue: ModelCatalogue, openai: OpenAIServer) -> None:
    stored(catalogue, EndpointSpec(id="e1", kind="openai", name="LM Studio", url=openai.base_url))
    await catalogue.model("e1/gpt-4o")
    openai.models = ("qwen3",)
    with pytest.raises(NotFoundError) as caught:
        await catalogue.model("e1/gpt-4o")
    assert caught.value.message == "LM Studio no longer offers the model gpt-4o. Choose another model."


async def test_model_of_a_server_that_is_down_is_not_gone(catalogue: ModelCatalogue) -> None:
    with OpenAIServer(models=("gpt-4o",)) as server:
        url = server.base_url
        stored(catalogue, EndpointSpec(id="e1", kind="openai", name="Mine", url=url))
        await catalogue.model("e1/gpt-4o")
    await catalogue.model("e1/gpt-4o")  # the answer says that the server does not respond
    with pytest.raises(ChieError) as caught:
        await catalogue.model("e1/never-listed")
    assert caught.value.code == "models.local_server_unreachable"


async def test_endpoint_of_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, openai: OpenAIServer, anthropic: AnthropicServer
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
    catalogue = AgentDependencies(load(ChatSettings), Toolbox([]), []).catalogue
    stored(catalogue, EndpointSpec(id="own", kind="anthropic", name="Other", url=anthropic.address, api_key="x"))
    [listed] = await catalogue.models()
    assert listed.kind == "openai"
    await catalogue.close()


async def test_anthropic_without_its_plug_in_says_what_to_install(anthropic: AnthropicServer) -> None:
    catalogue = AgentDependencies(load(ChatSettings), Toolbox([]), []).catalogue
    stored(catalogue, EndpointSpec(id="a", kind="anthropic", name="A", url=anthropic.address, api_key="x"))
    [listed] = await catalogue.models()
    assert listed.error is not None
    assert listed.error.code == "models.plug_in_missing"
    await catalogue.close()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/models/foo.gguf", "foo"),
        ("C:\\models\\日本語.Q4_K_M.gguf", "日本語.Q4_K_M"),
        ("~/llm/big-00001-of-00003.gguf", "big"),
        ("qwen3-8b.gguf", "qwen3-8b"),
        ("/srv/models/Qwen3-8B", "Qwen3-8B"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("qwen3:8b", "qwen3:8b"),
        ("global.anthropic.claude-sonnet-5", "global.anthropic.claude-sonnet-5"),
    ],
)
def test_path_of_a_file_is_shown_as_a_name(name: str, shown: str) -> None:
    assert display_name(name) == shown
