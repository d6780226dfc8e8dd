"""What the options of `chie connect` ask for, as entries in a host's own form."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from chie.connect.mcp_clients import Address, Host, Program
from chie.connect.program import find_program, variables
from chie.errors import ValidationError


@dataclass(frozen=True)
class Wanted:
    """The options, as they were typed."""

    servers: tuple[str, ...]
    http: str | None = None
    token_env: str | None = None
    write_token: bool = False
    env: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def entries(self, host: Host) -> dict[str, dict[str, Any]]:
        return {name: host.entry(self._server(host, name)) for name in self.servers}

    def named(self, host: Host) -> list[str]:
        """The variables that the host must find when it starts."""
        if self.http:
            return [self.token_env] if self.token_env and not self.write_token else []
        found = {name for server in self.servers for name, value in self._env(host, server).items() if value is None}
        return sorted(found)

    def left_out(self, host: Host) -> list[str]:
        """Variables that are set here, but that this host cannot hand on by name."""
        if self.http or host.reference:
            return []
        given = {item.partition("=")[0] for item in self.env}
        return sorted({name for s in self.servers for name in variables(s, (), self.environment)} - given)

    def secrets(self) -> list[str]:
        """What the options put into the file in clear, by the user's own word."""
        given = [item.partition("=")[2] for item in self.env]
        return [*filter(None, given), *([self._token()] if self.write_token and self.token_env else [])]

    def _server(self, host: Host, name: str) -> Program | Address:
        if self.write_token and not self.token_env:
            raise ValidationError("--write-token needs the name of the token's variable. Add --token-env NAME.")
        if self.http is not None:
            return self._address(host, name)
        if self.token_env:
            raise ValidationError("--token-env is for a server that is reached by --http. Add --http, or leave it out.")
        program = find_program(name)
        return Program(program.command, program.args, self._env(host, name))

    def _env(self, host: Host, server: str) -> dict[str, str | None]:
        if not all(item.partition("=")[0].strip() for item in self.env):
            raise ValidationError("--env wants a variable's name before the =. Write NAME, or NAME=VALUE.")
        if host.reference:
            return variables(server, self.env, self.environment)
        if named := [item for item in self.env if "=" not in item]:
            raise ValidationError(
                f"{host.name} cannot hand on a variable by its name. "
                f"Write {named[0]}=VALUE if its value may stand in the file."
            )
        return variables(server, self.env, {})

    def _address(self, host: Host, name: str) -> Address:
        if not host.takes_addresses:
            raise ValidationError(
                f"{host.name} reads only programs from its file. Leave out --http, or add the address in its "
                "settings under Connectors."
            )
        if self.env:
            raise ValidationError("--env is for a server that the host starts itself. Leave out --env or --http.")
        url = self._url(name)
        if self.token_env is None:
            return Address(url)
        return Address(url, token=self._token()) if self.write_token else Address(url, token_env=self.token_env)

    def _url(self, name: str) -> str:
        """The house's address is enough; one with a path is taken as it is."""
        try:
            parts = urlsplit(self.http or "")
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a bracket without its other, or a port that is no number up to 65535
            is_address = False
        if not is_address:
            raise ValidationError("--http wants an address such as http://127.0.0.1:8080, with http:// or https://.")
        if parts.username or parts.password:
            raise ValidationError("--http shall have no password in it. Name a variable with --token-env instead.")
        if parts.path.strip("/"):
            if len(self.servers) > 1:
                raise ValidationError("--http has a path, so it leads to one server. Name one --server, or no path.")
            return str(self.http)
        return f"{parts.scheme}://{parts.netloc}/mcp/{name}"

    def _token(self) -> str:
        token = self.environment.get(self.token_env or "")
        if not token:
            raise ValidationError("the variable that --token-env names is not set here. Set it, then try again.")
        return token
