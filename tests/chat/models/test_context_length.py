"""How many tokens a model reads, as different servers say it."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.chat.models.quirky import HI
from tests.fakes.loopback import Loopback
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.agents.builtin import build_openai
from chie.chat.agents.context_window import ContextWindow
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.models.context_length import context_lengths
from chie.chat.models.errors import ContextError
from chie.chat.models.messages import UserMessage
from chie.chat.models.openai import OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.req("AG-2")


@pytest.mark.parametrize(
    ("entry", "length"),
    [
        ({"meta": {"n_ctx": 2048, "n_ctx_train": 8192}}, 2048),
        ({"meta": {"n_ctx_train": 8192}}, 8192),
        ({"max_model_len": 32768}, 32768),
        ({"context_length": 131072, "top_provider": {"context_length": 65536}}, 131072),
        ({"context_window": 8192}, 8192),
        ({"max_context_length": 32768, "loaded_context_length": 4096}, 4096),
        ({"meta": None, "context_length": "many"}, None),
        ({"context_length": 0}, None),
        ({"context_length": 7}, None),
        ({}, None),
    ],
    ids=["llama.cpp", "older llama.cpp", "vLLM", "OpenRouter", "Groq", "LM Studio", "text", "zero", "few", "OpenAI"],
)
def test_fields_of_a_listing(entry: dict[str, Any], length: int | None) -> None:
    found = context_lengths({"object": "list", "data": [{"id": "m", **entry}, {"id": "other"}]})
    assert found == ({"m": length} if length else {})


class Server(Loopback):
    """Answers GET requests by path."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    class handler(BaseHTTPRequestHandler):  # noqa: N801  the name that Loopback uses
        owner: "Server"

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            self.owner.asked.append(self.path)
            body = json.dumps(self.owner.answers.get(self.path, {"error": "?"})).encode()
            self.send_response(200 if self.path in self.owner.answers else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/v0/models", {"data": [{"id": "m", "max_context_length": 32768, "loaded_context_length": 4096}]}),
        ("/api/ps", {"models": [{"name": "m", "model": "m", "context_length": 4096}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 4096, "params": {}}}),
        ("/model/info", {"data": [{"model_name": "m", "model_info": {"max_input_tokens": 4096}}]}),
    ],
    ids=["LM Studio", "Ollama", "llama.cpp", "LiteLLM"],
)
async def test_servers_that_say_it_elsewhere_are_asked_once(path: str, answer: Any) -> None:
    with Server({"/v1/models": {"data": [{"id": "m"}]}, path: answer}) as server:
        model = OpenAIModel(OpenAIEndpoint(f"{server.url}/v1"), "m")
        await model.find_context()
        assert model.context == 4096
        model.learn_context(2048)
        await model.find_context()
    assert model.context == 2048, "what an error has said is kept"
    assert server.asked.count(path) == 1


async def test_a_server_that_does_not_say_it_is_no_error() -> None:
    with Server({"/v1/models": {"data": [{"id": "m"}]}, "/props": ["?"], "/api/ps": {"models": None}}) as server:
        model = OpenAIModel(OpenAIEndpoint(f"{server.url}/v1"), "m")
        await model.find_context()
    assert model.context is None


async def test_only_long_conversations_ask() -> None:
    """The first token of a short one does not wait for it."""
    with OpenAIServer(say("x"), models=("m",)) as server:
        listing = {"data": [{"id": "m", "max_model_len": 4096}]}
        server.listing = lambda: json.dumps(listing).encode()  # type: ignore[method-assign]
        model = OpenAIModel(OpenAIEndpoint(server.base_url), "m")
        short = ContextWindow(model=model, messages=[UserMessage("hi")])
        await short.open("", [])
        assert model.context is None
        long = ContextWindow(model=model, messages=[UserMessage("long " * 4_000)])
        await long.open("", [])
        assert model.context == 4096
        assert [item async for item in model.stream(HI)]
        await model.close()


@pytest.mark.parametrize(
    ("profile", "context"),
    [
        (Profile(id="x"), 9_000),
        (Profile(id="x", context=5_000), 5_000),
        (Profile(id="x", base_url="http://127.0.0.1:9/v1"), None),
        (Profile(id="x", base_url="http://127.0.0.1:9/v1", context=5_000), 5_000),
    ],
)
async def test_settings_come_first(profile: Profile, context: int | None) -> None:
    settings = ChatSettings(chie_model_context=9_000)
    async with Toolbox([]) as toolbox:
        agent = build_openai(profile, AgentDependencies(settings, toolbox, []))
    assert agent._model.context == context


@pytest.mark.req("AG-6")
def test_errors_name_a_model_and_not_the_path_of_its_file() -> None:
    path = "/home/ops/big-00001-of-00003.gguf"
    error = ContextError("models.message_too_long", limit=8, model=path, tokens=9, context=8)
    assert error.reason.params["model"] == "big"
    assert "/home" not in str(error)
