"""Names and forms of the settings; the names are on the wire for ever."""

from pathlib import Path

import pytest

from chie.chat.agents.builtin import LAST_RESORT, OUT_OF_THE_BOX
from chie.chat.agents.kinds import BUILT_IN, GROUP
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.settings import load

VARIABLES = {
    "CHIE_HOME",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "CHIE_MODEL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "CHIE_ANTHROPIC_MODEL",
    "AWS_REGION",
    "AWS_PROFILE",
    "CHIE_AWS_MODEL",
    "CHIE_SERVERS_FILE",
    "CHIE_AGENTS_FILE",
    "CHIE_APPROVED_TOOLS",
    "CHIE_MODEL_TIMEOUT",
    "CHIE_TOOL_TIMEOUT",
    "CHIE_TOOL_ROUNDS",
    "CHIE_TOOL_RESULT_LIMIT",
    "CHIE_ANSWER_LIMIT",
}


def test_names_that_operators_and_plug_ins_rely_on() -> None:
    assert {name.upper() for name in ChatSettings.model_fields} == VARIABLES
    ids = [wanted.profile.id for wanted in (*OUT_OF_THE_BOX, LAST_RESORT)]
    assert ids == ["default-chat", "web-scraper", "assistant", "aws", "notes"]
    assert set(BUILT_IN) == {"default", "openai", "aws", "notes"}
    assert GROUP == "chie.agents"


def test_patterns_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_APPROVED_TOOLS", "update_knowledge, n8n/*,,")
    assert load(ChatSettings).chie_approved_tools == ("update_knowledge", "n8n/*")


def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_TOOL_ROUNDS", "many")
    with pytest.raises(ConfigurationError, match="wrong value for CHIE_TOOL_ROUNDS"):
        load(ChatSettings)


def test_a_key_alone_means_openai_itself() -> None:
    assert ChatSettings(openai_api_key="sk-1").model_address == "https://api.openai.com/v1"  # type: ignore[arg-type]


def test_files_are_looked_for_at_home(home: Path, tmp_path: Path) -> None:
    assert ChatSettings().servers_file == home / "servers.json"
    assert ChatSettings(chie_agents_file=tmp_path / "a.json").agents_file == tmp_path / "a.json"
