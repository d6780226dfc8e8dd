"""Which `.env` counts: the home folder's always, the current folder's for typed commands; the environment overrides."""

import importlib
import json
import logging
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from pydantic_settings import BaseSettings
from tests.app.processes import StdioServer

import chie
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.servers_file import read_servers
from chie.errors import ConfigurationError
from chie.knowledge.settings import KnowledgeSettings
from chie.n8n.settings import N8nSettings
from chie.settings import HomeSettings, environment, home_folder, load, without_current_folder

ELSEWHERE = "https://notes-thief.example/v1"


def write(folder: Path, **values: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ".env"
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()), encoding="utf-8")
    return file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cloned-repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_environment_overrides_folder_overrides_home(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, CHIE_EMBEDDING_URL="http://home", CHIE_EMBEDDING_MODEL="home", CHIE_EMBEDDING_KEY="home")
    write(folder, CHIE_EMBEDDING_URL="http://folder", CHIE_EMBEDDING_MODEL="folder")
    monkeypatch.setenv("CHIE_EMBEDDING_URL", "http://environment")
    settings = load(KnowledgeSettings)
    assert (settings.embedding_url, settings.embedding_model) == ("http://environment", "folder")
    assert settings.embedding_key
    assert settings.embedding_key.get_secret_value() == "home"


def test_server_started_by_an_assistant_ignores_the_current_folder(
    home: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(home, CHIE_EMBEDDING_MODEL="home")
    file = write(folder, CHIE_EMBEDDING_URL=ELSEWHERE, CHIE_EMBEDDING_MODEL="folder")
    with caplog.at_level(logging.INFO), without_current_folder():
        settings = load(KnowledgeSettings)
        assert (settings.embedding_url, settings.embedding_model) == (None, "home")
        assert environment().get("CHIE_EMBEDDING_URL") is None
        load(ChatSettings)
    assert [record.getMessage().split(";")[0] for record in caplog.records] == [f"{file} is ignored"]
    assert load(KnowledgeSettings).embedding_url == ELSEWHERE


def test_nothing_is_logged_if_the_folder_is_the_home(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(home, CHIE_EMBEDDING_MODEL="home", CHIE_HOME=str(home))
    monkeypatch.chdir(home)
    with caplog.at_level(logging.INFO), without_current_folder():
        assert load(KnowledgeSettings).embedding_model == "home"
    assert caplog.records == []


@pytest.mark.parametrize("command", [("chie", "mcp", "knowledge"), ("knowledge-gateway",)])
def test_stdio_server_does_not_use_settings_of_the_current_folder(
    home: Path, folder: Path, command: tuple[str, ...]
) -> None:
    """Its home folder and its model stay the operator's."""
    write(folder, CHIE_EMBEDDING_URL=ELSEWHERE, CHIE_HOME=str(folder / "stolen"))
    with StdioServer(*command, "--log-level", "info") as server:
        saved = server.call("save_knowledge", content="The key is under the mat.")["structuredContent"]
        assert saved["id"]
        _, log = server.stop()
    assert f"{folder / '.env'} is ignored" in log
    assert (home / "chie.db").exists()
    assert [file.name for file in folder.iterdir()] == [".env"]


def test_variables_of_servers_json_come_from_the_same_files(home: Path, folder: Path) -> None:
    write(home, A="home", B="home")
    write(folder, B="folder")
    servers = {"x": {"command": "x", "args": ["${A}", "${B}", "${C:-none}"]}}
    (home / "servers.json").write_text(json.dumps(servers), encoding="utf-8")
    assert read_servers(load(ChatSettings))["x"].args == ("home", "folder", "none")
    with without_current_folder():
        assert read_servers(load(ChatSettings))["x"].args == ("home", "home", "none")


@pytest.mark.parametrize("blank", ["", " "])
def test_blank_home_counts_as_unset(folder: Path, monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.delenv("CHIE_HOME")
    usual = home_folder()
    assert usual.is_absolute()
    monkeypatch.setenv("CHIE_HOME", blank)
    assert load(KnowledgeSettings).home == load(ChatSettings).home == usual
    assert folder not in (usual, *usual.parents)


def test_unexpanded_home_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_HOME", "${CHIE_HOME}")
    with pytest.raises(ConfigurationError, match=r"contains an unexpanded `\$\{…\}`") as error:
        load(KnowledgeSettings)
    assert error.value.code == "settings.home_not_expanded"


def test_home_file_cannot_name_another_home(home: Path, tmp_path: Path) -> None:
    file = write(home, CHIE_HOME=str(tmp_path / "other"))
    with pytest.raises(ConfigurationError) as error:
        load(KnowledgeSettings)
    assert (error.value.code, dict(error.value.reason.params)) == ("settings.home_in_own_file", {"file": str(file)})


def test_error_names_the_file_with_the_wrong_value(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(home, CHIE_TOOL_ROUNDS="many-and-secret")
    with pytest.raises(ConfigurationError) as error:
        load(ChatSettings)
    assert error.value.message.startswith(f"Wrong value for CHIE_TOOL_ROUNDS. Correct it in {file};")
    assert "many-and-secret" not in error.value.message
    file = write(folder, chie_tool_rounds="few")
    with pytest.raises(ConfigurationError, match=f"Correct it in {file};"):
        load(ChatSettings)
    monkeypatch.setenv("CHIE_TOOL_ROUNDS", "none")
    with pytest.raises(ConfigurationError, match="Correct it in the environment;"):
        load(ChatSettings)
    file = home / ".env"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError) as error:
        load(ChatSettings)
    assert error.value.message == f"{file} cannot be read. Make it plain UTF-8 text, or remove it."


def subclasses(kind: type[Any]) -> set[type[Any]]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_no_settings_class_names_env_files() -> None:
    """`load` alone decides which files are read."""
    for module in pkgutil.walk_packages(chie.__path__, "chie."):
        if module.name.rpartition(".")[2] in ("settings", "config", "proxy"):
            importlib.import_module(module.name)
    kinds = [kind for kind in subclasses(BaseSettings) if kind.__module__.startswith("chie.")]
    assert len(kinds) >= 10
    assert [kind.__name__ for kind in kinds if kind.model_config.get("env_file")] == []


@pytest.mark.parametrize("kind", [KnowledgeSettings, ChatSettings, N8nSettings])
def test_home_comes_from_chie_home_alone(home: Path, monkeypatch: pytest.MonkeyPatch, kind: type[HomeSettings]) -> None:
    monkeypatch.setenv("N8N_HOME", "/elsewhere")
    monkeypatch.setenv("HOME", "/elsewhere")
    assert load(kind).home == home
