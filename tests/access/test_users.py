"""`chie users`, and the file behind it."""

import hmac
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.app.processes import http_server

from chie.access.authentication import Authenticator
from chie.access.identity import User
from chie.access.settings import AccessSettings
from chie.access.users import UserFile, hash_of
from chie.cli import main
from chie.errors import AuthenticationError, ConfigurationError, ServiceError
from chie.messages.catalogue import Message


def run(*arguments: str) -> "tuple[int, str, str]":
    result = CliRunner().invoke(main, ["users", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_token_is_shown_once_and_not_stored(home: Path) -> None:
    code, out, err = run("add", "aki", "--admin")
    token = out.strip()
    assert (code, token[:5], len(token)) == (0, "chie_", 48)
    assert "not shown again" in err
    kept = (home / "users.json").read_text()
    assert token not in kept
    assert json.loads(kept)["users"][0]["token_sha256"] == hash_of(token)
    assert stat.S_IMODE((home / "users.json").stat().st_mode) == 0o600
    assert UserFile(home / "users.json").find(token) == User("aki", admin=True)
    assert run("list")[1].split()[0] == "aki"
    assert token not in str(run("list"))


def test_revoked_token_is_rejected_at_once(home: Path) -> None:
    file = UserFile(home / "users.json")
    tokens = [file.add(name) for name in ("aki", "ben")]
    reader = UserFile(home / "users.json")
    assert reader.find(tokens[0]) == User("aki")
    assert run("revoke", "aki") == (0, "Revoked aki\n", "")
    assert reader.find(tokens[0]) is None
    assert reader.find(tokens[1]) == User("ben")
    warning = (
        "No users are left, so no token of `chie users` is accepted. Add one with `chie users add NAME`; "
        f"to stop requiring tokens, delete {home / 'users.json'}.\n"
    )
    assert run("revoke", "ben")[2] == warning
    assert run("list") == (0, "", warning)
    (home / "users.json").unlink()
    assert run("list")[2] == "No users. `chie users add NAME` adds one.\n"


@pytest.mark.parametrize("name", ["", "anonymous", "Chie", "a b", "../aki", "a" * 65, "aki\n", "-x"])
def test_invalid_user_name_is_rejected(name: str) -> None:
    code, _, err = run("add", "--", name)
    assert (code, err) == (1, f"Error: {Message('access.user_name_invalid', reserved=['anonymous', 'chie'])}\n")


def test_existing_name_is_a_conflict_and_unknown_one_not_found() -> None:
    run("add", "aki")
    assert "The user AKI already exists" in run("add", "AKI")[2]
    assert "There is no user ben" in run("revoke", "ben")[2]


async def test_authentication_stays_required_after_the_file_is_deleted(home: Path) -> None:
    authenticator = Authenticator(AccessSettings())
    assert not authenticator.required
    token = UserFile(home / "users.json").add("aki")
    assert authenticator.required
    assert await authenticator.user_of(token) == User("aki")
    (home / "users.json").unlink()
    assert authenticator.required
    with pytest.raises(AuthenticationError):
        await authenticator.user_of(token)


@pytest.mark.parametrize("content", ["", "[]", '{"users": [{"name": "aki"}]}', '{"users": {"a": 1}}', "\x00"])
async def test_broken_file_rejects_all_tokens(home: Path, content: str) -> None:
    _write(home, content)
    authenticator = Authenticator(AccessSettings())
    assert authenticator.required
    with pytest.raises(ServiceError) as rejected:
        await authenticator.user_of("chie_x")
    assert rejected.value.code == "access.users_unavailable"
    assert str(home) not in rejected.value.message, "unauthenticated callers do not learn the path"
    with pytest.raises(ConfigurationError) as broken:
        UserFile(home / "users.json").entries()
    assert (broken.value.code, dict(broken.value.reason.params)) == (
        "access.users_not_readable",
        {"file": str(home / "users.json")},
    )


def _write(home: Path, content: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "users.json").write_text(content)


def test_concurrent_additions_are_all_kept(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: UserFile(home / "users.json").add(f"user{number}"), range(24)))
    assert len(UserFile(home / "users.json").entries()) == 24
    assert [path.name for path in home.glob(".*.part")] == []


def test_tokens_are_compared_in_constant_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = UserFile(home / "users.json")
    tokens = [file.add(name) for name in ("aki", "ben", "chi")]
    compared: list[str] = []

    def spy(first: str, second: str) -> bool:
        compared.append(first)
        return first == second

    monkeypatch.setattr(hmac, "compare_digest", spy)
    for token in (tokens[0], "chie_nobody"):
        compared.clear()
        file.find(token)
        assert len(compared) == 3, "found or not, all are compared"


def test_remote_host_needs_authentication(home: Path) -> None:
    everywhere = "0.0.0.0"  # noqa: S104
    command = [str(Path(sys.executable).parent / "chie"), "mcp", "knowledge", "--http", "--host", everywhere]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=os.environ)
    assert refused.returncode == 1
    assert "chie users add NAME" in refused.stderr
    UserFile(home / "users.json").add("aki")
    with http_server("chie", "mcp", "knowledge", "--http", "--host", everywhere) as address:
        assert "//" in address
        assert everywhere not in address  # nobody can open that


def test_no_cryptography_is_imported_without_an_issuer() -> None:
    script = (
        "import chie.app, sys; from chie.access.authentication import load_authenticator; load_authenticator(); "
        "print('jwt' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before = subprocess.run(
        [sys.executable, "-c", "import fastmcp, mcp, sys; print('jwt' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == before.stdout
