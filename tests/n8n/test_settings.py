"""What the operator can set, and what is said when it is missing."""

import os
from pathlib import Path

import pytest

from chie.errors import ConfigurationError
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load


def test_all_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"^not configured: N8N_URL, N8N_API_KEY$"):
        create_server()


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_counts_as_missing(monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
    monkeypatch.setenv("N8N_API_KEY", blank)
    with pytest.raises(ConfigurationError, match=r"^not configured: N8N_API_KEY$"):
        create_server()


def test_a_wrong_address_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", "n8n.example")
    monkeypatch.setenv("N8N_API_KEY", "key")
    with pytest.raises(ConfigurationError, match="http:// or https://"):
        create_server()


def test_every_setting_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
        "CHIE_HOME": str(tmp_path / "house"),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = load(N8nSettings)
    assert settings.read_only is True
    assert settings.file_roots == [Path("/srv/a"), Path("/srv/b")]
    assert settings.headers["CF-Access-Client-Id"].get_secret_value() == "abc"
    assert (settings.timeout, settings.backup_keep, settings.max_chars) == (5, 7, 9000)
    assert settings.backups == tmp_path / "house" / "n8n-backups"
    assert "secret-key" not in repr(settings)
    assert "abc" not in repr(settings)


def test_a_wrong_value_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_TIMEOUT", "soon")
    with pytest.raises(ConfigurationError, match="wrong value for N8N_TIMEOUT"):
        load(N8nSettings)


def test_files_are_read_from_where_the_server_was_started_but_never_from_the_whole_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert N8nSettings().file_roots == [tmp_path]
    monkeypatch.chdir("/")
    assert N8nSettings().file_roots == []
