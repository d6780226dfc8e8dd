"""The file with the URL and the token that `chie hook` uses if the environment has none."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chie.connect.config_file import ConfigFile
from chie.errors import ChieError
from chie.files import make_folder
from chie.hook.login import FILE


@dataclass(frozen=True)
class Login:
    """`token_env` names the variable with the token; `token` is the token in clear text, on request alone."""

    url: str
    token_env: str | None = None
    token: str | None = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        found = {"url": self.url, "token_env": self.token_env, "token": self.token}
        return {key: value for key, value in found.items() if value}


class LoginFile:
    """Lists the clients that were set up with it, and is deleted with the last one."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = ConfigFile(home / FILE)

    def get(self) -> Login | None:
        found = self._read()
        url = found.get("url")
        return Login(url, found.get("token_env"), found.get("token")) if isinstance(url, str) else None

    def clients(self) -> list[str]:
        found = self._read().get("clients")
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

    def add(self, client: str, login: Login) -> None:
        self._write({**login.as_json(), "clients": sorted({*self.clients(), client})})

    def remove(self, client: str) -> None:
        if self._file.read() is None:
            return
        left = [name for name in self.clients() if name != client]
        self._write({**self._read(), "clients": left} if left else None)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read() or "{}")
        except (ValueError, RecursionError, ChieError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, content: dict[str, Any] | None) -> None:
        make_folder(self._home)
        text = None if content is None else json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        self._file.write(text, seen=self._file.read())
