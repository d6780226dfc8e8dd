"""The checks of authentication."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.identity_provider import AUDIENCE
from tests.fakes.identity_provider import provider as serving

from chie.cli import main
from chie.doctor.cli import all_checks
from chie.doctor.finding import Finding
from chie.doctor.runner import run_checks
from chie.messages.catalogue import Message


def run() -> list[Finding]:
    return run_checks([check for check in all_checks(8080) if check.name == "users"]).findings


def users(*arguments: str) -> None:
    assert CliRunner().invoke(main, ["users", *arguments]).exit_code == 0


def test_authentication_is_off_by_default() -> None:
    assert run() == [Finding("users", "off", Message("doctor.users_not_configured", command="chie users add NAME"))]


def test_users_are_counted() -> None:
    users("add", "aki")
    assert run() == [Finding("users", "ok", Message("doctor.users_ok", count=1))]


def test_invalid_user_file_is_a_problem(home: Path) -> None:
    home.mkdir()
    path = home / "users.json"
    path.write_text("{")
    [found] = run()
    assert (found.state, found.fix) == ("problem", f'mv "{path}" "{path}.old" && chie users add NAME')
    assert str(path) in str(found.message)


def test_empty_user_file_is_a_problem() -> None:
    users("add", "aki")
    users("revoke", "aki")
    [found] = run()
    assert (found.state, found.fix) == ("problem", "chie users add NAME")


def test_keys_of_the_provider_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as provider:
        monkeypatch.setenv("CHIE_AUTH_ISSUER", provider.issuer)
        monkeypatch.setenv("CHIE_AUTH_AUDIENCE", AUDIENCE)
        states = {found.check: found.state for found in run()}
        assert states == {"users": "ok", "identity provider": "ok"}
        provider.failing = True
        failed = run()[1]
    assert (failed.state, failed.fix) == ("problem", 'curl -sS "$CHIE_AUTH_ISSUER/.well-known/openid-configuration"')
    assert run()[1].state == "problem", "also if it is gone"
    monkeypatch.setenv("CHIE_AUTH_JWKS_URL", f"{provider.issuer}/jwks")
    assert run()[1].fix == 'curl -sS "$CHIE_AUTH_JWKS_URL"'


def test_conflicting_settings_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_AUTH_ISSUER", "https://accounts.example")
    [found] = run()
    assert found.state == "problem"
    assert "CHIE_AUTH_AUDIENCE" in str(found.message)
