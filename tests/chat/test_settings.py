"""Names and formats of the settings; the names are stable."""

from pathlib import Path

import pytest

from chie.chat.agents.builtin import BUILTIN_AGENTS, FALLBACK_AGENT, KINDS
from chie.chat.agents.plugins import GROUP
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.settings import load

VARIABLES = {
    "CHIE_HOME",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "CHIE_MODEL",
    "CHIE_MODEL_HOST",
    "CHIE_MODEL_VISION",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "CHIE_ANTHROPIC_MODEL",
    "AWS_REGION",
    "AWS_PROFILE",
    "CHIE_AWS_MODEL",
    "CHIE_SERVERS_FILE",
    "CHIE_AGENTS_FILE",
    "CHIE_PAGE_AGENT",
    "CHIE_APPROVED_TOOLS",
    "CHIE_MODEL_CONTEXT",
    "CHIE_MODEL_TIMEOUT",
    "CHIE_TOOL_TIMEOUT",
    "CHIE_TOOL_ROUNDS",
    "CHIE_TOOL_RESULT_LIMIT",
    "CHIE_ANSWER_LIMIT",
    "CHIE_TITLES",
    "CHIE_PRICES_FILE",
    "CHIE_MONTHLY_TOKENS",
    "CHIE_MONTHLY_COST",
    "CHIE_TEAM_MONTHLY_TOKENS",
    "CHIE_TEAM_MONTHLY_COST",
}


def test_names_that_operators_and_plug_ins_rely_on() -> None:
    fields = ChatSettings.model_fields.items()
    assert {str(field.validation_alias or name).upper() for name, field in fields} == VARIABLES
    ids = [spec.profile.id for spec in (*BUILTIN_AGENTS, FALLBACK_AGENT)]
    assert ids == ["default-chat", "assistant", "web-scraper", "aws", "notes"]
    assert set(KINDS) == {"default", "openai", "aws", "notes"}
    assert GROUP == "chie.agents"


def test_patterns_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_APPROVED_TOOLS", "update_knowledge, n8n/*,,")
    assert load(ChatSettings).chie_approved_tools == ("update_knowledge", "n8n/*")


def test_invalid_value_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_TOOL_ROUNDS", "many")
    with pytest.raises(ConfigurationError) as caught:
        load(ChatSettings)
    assert (caught.value.code, caught.value.reason.params["names"]) == ("settings.invalid", ["CHIE_TOOL_ROUNDS"])


def test_key_alone_selects_openai() -> None:
    assert ChatSettings(openai_api_key="sk-1").model_url == "https://api.openai.com/v1"  # type: ignore[arg-type]


def test_files_default_to_the_home_folder(home: Path, tmp_path: Path) -> None:
    assert ChatSettings().servers_file == home / "servers.json"
    assert ChatSettings(chie_agents_file=tmp_path / "a.json").agents_file == tmp_path / "a.json"
