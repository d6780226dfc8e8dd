"""The options of `chie connect`, turned into entries in a client's own form."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from chie.connect.mcp_clients import HttpServer, McpClient, StdioServer
from chie.connect.program import find_command, missing_extras, missing_variables, server_variables
from chie.errors import ValidationError


@dataclass(frozen=True)
class Options:
    """The options as typed."""

    servers: tuple[str, ...]
    http: str | None = None
    token_env: str | None = None
    write_token: bool = False
    env: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def entries(self, client: McpClient) -> dict[str, dict[str, Any]]:
        return {name: client.entry(self._server(client, name)) for name in self.servers}

    def referenced_variables(self, client: McpClient) -> list[str]:
        """The variables that must be set in the environment of the client."""
        if self.http:
            return [self.token_env] if self.token_env and not self.write_token else []
        found = {name for server in self.servers for name, value in self._env(client, server).items() if value is None}
        return sorted(found)

    def unsupported_variables(self, client: McpClient) -> list[str]:
        """Variables that are set here, but that this client cannot pass on by name."""
        if self.http or client.env_reference:
            return []
        given = {item.partition("=")[0] for item in self.env}
        return sorted({name for s in self.servers for name in server_variables(s, (), self.environment)} - given)

    def missing_variables(self, client: McpClient) -> dict[str, list[str]]:
        """By server, the variables that it needs and that neither the client nor the server will find."""
        if self.http is not None:
            return {}
        inherited = {name for name, value in self.environment.items() if value.strip()}
        available = {item.partition("=")[0] for item in self.env} | (inherited if client.env_reference else set())
        found = {server: missing_variables(server, available) for server in self.servers}
        return {server: names for server, names in found.items() if names}

    def missing_extras(self) -> set[str]:
        return set() if self.http is not None else {extra for name in self.servers for extra in missing_extras(name)}

    def secrets(self) -> list[str]:
        """Values that the options write into the file in clear text."""
        given = [item.partition("=")[2] for item in self.env]
        return [*filter(None, given), *([self.token()] if self.write_token and self.token_env else [])]

    def _server(self, client: McpClient, name: str) -> StdioServer | HttpServer:
        if self.write_token and not self.token_env:
            raise ValidationError("connect.write_token_without_token_env")
        if self.http is not None:
            return self._http_server(client, name)
        if self.token_env:
            raise ValidationError("connect.token_env_without_http")
        command = find_command(name)
        return StdioServer(command.command, command.args, self._env(client, name))

    def _env(self, client: McpClient, server: str) -> dict[str, str | None]:
        if not all(item.partition("=")[0].strip() for item in self.env):
            raise ValidationError("connect.env_without_name")
        if client.env_reference:
            return server_variables(server, self.env, self.environment)
        if named := [item for item in self.env if "=" not in item]:
            raise ValidationError("connect.env_not_passed_on", client=client.name, variable=named[0])
        return server_variables(server, self.env, {})

    def _http_server(self, client: McpClient, name: str) -> HttpServer:
        if not client.supports_http:
            raise ValidationError("connect.http_not_supported", client=client.name)
        if self.env:
            raise ValidationError("connect.env_with_http")
        url = self._url(name)
        if self.token_env is None:
            return HttpServer(url)
        return HttpServer(url, token=self.token()) if self.write_token else HttpServer(url, token_env=self.token_env)

    def _url(self, name: str) -> str:
        """Chie's base URL is enough; a URL with a path is used as it is."""
        parts = _split_http_url(self.http or "")
        if parts is None:
            raise ValidationError("connect.http_not_a_url")
        if parts.username or parts.password:
            raise ValidationError("connect.http_with_password")
        if parts.path.strip("/"):
            if len(self.servers) > 1:
                raise ValidationError("connect.http_path_with_many_servers")
            return str(self.http)
        return f"{parts.scheme}://{parts.netloc}/mcp/{name}"

    def token(self) -> str:
        """The value of the variable that `--token-env` names."""
        token = self.environment.get(self.token_env or "")
        if not token:
            raise ValidationError("connect.token_env_not_set")
        return token


def base_url(url: str) -> str:
    """The URL of a running Chie, without a final slash."""
    parts = _split_http_url(url)
    if parts is None:
        raise ValidationError("connect.http_not_a_url")
    if parts.username or parts.password:
        raise ValidationError("connect.http_with_password")
    return url.rstrip("/")


def _split_http_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an unbalanced bracket, or a port that is not a number up to 65535
        return None
    return parts if valid else None
