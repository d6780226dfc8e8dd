"""The settings, and the errors for missing ones."""

import os
from pathlib import Path

import pytest

from chie.errors import ConfigurationError
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load


def test_all_missing_variables_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"^not configured: N8N_URL, N8N_API_KEY$"):
        create_server()


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_counts_as_missing(monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
    monkeypatch.setenv("N8N_API_KEY", blank)
    with pytest.raises(ConfigurationError, match=r"^not configured: N8N_API_KEY$"):
        create_server()


def test_invalid_url_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", "n8n.example")
    monkeypatch.setenv("N8N_API_KEY", "key")
    with pytest.raises(ConfigurationError, match="http:// or https://"):
        create_server()


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = {
        "N8N_URL": "http://127.0.0.1:5678/api/v1",
        "N8N_API_KEY": "secret-key",
        "N8N_READ_ONLY": "1",
        "N8N_TIMEOUT": "5",
        "N8N_CA_BUNDLE": "/etc/ca.pem",
        "N8N_HEADERS": '{"CF-Access-Client-Id": "abc"}',
        "N8N_FILE_ROOTS": os.pathsep.join(["/srv/a", "/srv/b"]),
        "N8N_BACKUP_KEEP": "7",
        "N8N_MAX_CHARS": "9000",
        "CHIE_HOME": str(tmp_path / "chie"),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = load(N8nSettings)
    assert settings.read_only is True
    assert settings.file_roots == [Path("/srv/a"), Path("/srv/b")]
    assert settings.headers["CF-Access-Client-Id"].get_secret_value() == "abc"
    assert (settings.timeout, settings.backup_keep, settings.max_chars) == (5, 7, 9000)
    assert settings.backups == tmp_path / "chie" / "n8n-backups"
    assert "secret-key" not in repr(settings)
    assert "abc" not in repr(settings)


def test_invalid_value_is_reported_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_TIMEOUT", "soon")
    with pytest.raises(ConfigurationError, match="Wrong value for N8N_TIMEOUT"):
        load(N8nSettings)


def test_file_roots_default_to_the_working_directory_but_never_to_the_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert N8nSettings().file_roots == [tmp_path]
    monkeypatch.chdir("/")
    assert N8nSettings().file_roots == []
