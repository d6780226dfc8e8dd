"""Which parameters a model takes, by family, and how a provider's refusal of one is told."""

import pytest

from chie.chat.models.claude_thinking import adaptive_thinking
from chie.chat.models.endpoint import Endpoint
from chie.chat.models.model_parameters import (
    anthropic_parameters,
    bedrock_parameters,
    is_openai_reasoning,
    openai_parameters,
    require_accepted,
    takes_thinking_budget,
)
from chie.chat.models.provider_error import read_error
from chie.errors import ValidationError
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("AG-5")

LENGTH = ["max_tokens"]
EFFORT = ["max_tokens", "reasoning_effort"]
PLAIN = ["temperature", "max_tokens"]
ALL = ["temperature", "max_tokens", "reasoning_effort"]


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("gpt-4o", PLAIN),
        ("gpt-4.1-mini", PLAIN),
        ("chatgpt-4o-latest", PLAIN),
        ("gpt-5", EFFORT),
        ("gpt-5.2-codex", EFFORT),
        ("openai/gpt-5-mini", EFFORT),
        ("gpt-5-pro", LENGTH),
        ("gpt-5-chat-latest", PLAIN),
        ("o3", EFFORT),
        ("o4-mini", EFFORT),
        ("o1-mini", LENGTH),
        ("gpt-oss-20b", ALL),
        ("openai/gpt-oss-120b", ALL),
        ("gemini-2.0-flash", PLAIN),
        ("gemini-2.5-pro", ALL),
        ("models/gemini-3-pro-preview", ALL),
        ("anthropic/claude-sonnet-4-5", PLAIN),
        ("anthropic/claude-sonnet-5", LENGTH),
        ("qwen3-8b", PLAIN),
        ("/models/日本語-7b.gguf", PLAIN),
        ("", PLAIN),
    ],
)
def test_models_of_openai_compatible_servers(model: str, names: list[str]) -> None:
    assert [one.name for one in openai_parameters(model)] == names


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("claude-sonnet-5", EFFORT),
        ("claude-opus-5-5", EFFORT),
        ("claude-opus-4-8", EFFORT),
        ("claude-sonnet-4-6", EFFORT),
        ("claude-haiku-4-5-20251001", EFFORT),
        ("claude-3-7-sonnet-latest", EFFORT),
        ("claude-3-haiku-20240307", LENGTH),
    ],
)
def test_models_of_anthropic(model: str, names: list[str]) -> None:
    assert [one.name for one in anthropic_parameters(model)] == names


@pytest.mark.req("AG-3")
@pytest.mark.parametrize(
    ("model", "asked", "by_default"),
    [
        ("claude-sonnet-5", True, True),
        ("global.anthropic.claude-opus-5-5-v1:0", True, True),
        ("claude-mythos-preview", True, True),
        ("claude-opus-4-8", True, False),
        ("jp.anthropic.claude-sonnet-4-6", True, False),
        ("claude-opus-4-5", False, False),
        ("claude-opus-4-20250514", False, False),
        ("claude-3-7-sonnet-20250219", False, False),
        ("amazon.nova-pro-v1:0", False, False),
    ],
)
def test_claude_is_asked_for_its_thinking(model: str, asked: bool, by_default: bool) -> None:
    """The fifth generation thinks unasked, and shows nothing of it unless asked; a forced call excludes thinking."""
    assert bool(adaptive_thinking(model, "low", call_required=False)) is asked
    assert bool(adaptive_thinking(model, None, call_required=False)) is by_default
    assert adaptive_thinking(model, "low", call_required=True) is None


def test_older_claude_has_a_budget_instead_of_an_effort() -> None:
    budget = ["claude-haiku-4-5", "claude-sonnet-4-20250514", "claude-3-7-sonnet-latest"]
    assert all(map(takes_thinking_budget, budget))
    assert not any(map(takes_thinking_budget, ["claude-sonnet-4-6", "claude-opus-4-5", "claude-sonnet-5"]))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("global.anthropic.claude-sonnet-5", EFFORT),
        ("jp.anthropic.claude-sonnet-4-6", ALL),
        ("jp.anthropic.claude-haiku-4-5-20251001-v1:0", PLAIN),
        ("anthropic.claude-3-haiku-20240307-v1:0", PLAIN),
        ("amazon.nova-lite-v1:0", PLAIN),
        ("openai.gpt-oss-120b-1:0", ALL),
    ],
)
def test_models_of_bedrock(model: str, names: list[str]) -> None:
    assert [one.name for one in bedrock_parameters(model)] == names
    assert all(one.maximum == 1 for one in bedrock_parameters(model) if one.name == "temperature")


def test_only_reasoning_models_of_openai_want_the_new_name_of_the_limit() -> None:
    assert is_openai_reasoning("gpt-5-mini")
    assert not is_openai_reasoning("gpt-4o")
    assert not is_openai_reasoning("gpt-oss-20b")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"temperature": 0.2}, "models.parameter_not_taken"),
        ({"reasoning_effort": "maximal"}, "models.parameter_out_of_range"),
        ({"max_tokens": 0}, "models.parameter_out_of_range"),
        ({"max_tokens": True}, "models.parameter_out_of_range"),
    ],
)
def test_parameter_that_is_not_taken_is_named(given: dict[str, object], code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        require_accepted(given, openai_parameters("o3"), model="o3")
    assert caught.value.code == code
    assert str(Message(f"models.parameter_{next(iter(given))}")) in caught.value.message


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", "temperature"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("max_tokens: 200000 > 8192, which is the maximum allowed number of output tokens", "max_tokens"),
        ("The maximum tokens you requested exceeds the model limit of 4096.", "max_tokens"),
        ("reasoning_effort is not supported with this model", "reasoning_effort"),
        ("output_config.effort: Extra inputs are not permitted", "reasoning_effort"),
        ("max_tokens is too large: the maximum context length is 4096 tokens", None),
        ("the temperature of this data centre is high", None),
    ],
)
def test_refusal_of_a_provider_names_the_parameter(text: str, parameter: str | None) -> None:
    error = read_error({"error": {"message": text}})
    assert error.parameter == parameter
    if parameter:
        told = Endpoint("http://127.0.0.1:9").failed(400, "gpt-5", error=error)
        assert told.code == "models.parameter_refused"
        assert str(Message(f"models.parameter_{parameter}")) in told.message
