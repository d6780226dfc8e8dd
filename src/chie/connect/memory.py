"""`chie connect CLIENT --memory`: hooks that recall notes and ask for new ones, by the notes of a running Chie."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chie.connect.config_edit import ClientConfig, Plan
from chie.connect.hook_config import HOOK_CLIENTS, HookConfig
from chie.connect.login_file import Login, LoginFile
from chie.connect.mcp_clients import HttpServer, McpClient
from chie.connect.options import Options, base_url
from chie.connect.review import EditedFile, apply, confirm, show
from chie.errors import ValidationError
from chie.hook.login import DEFAULT_URL, TOKEN, URL

if TYPE_CHECKING:
    from chie.connect.claude_plugin import ClaudePlugin

PLUGIN_CLIENT = "claude-code"
SERVER = "knowledge"


@dataclass(frozen=True)
class Memory:
    """The options as typed."""

    client: McpClient
    home: Path
    http: str | None = None
    token_env: str | None = None
    write_token: bool = False

    def run(self, *, print_only: bool, remove: bool, yes: bool) -> None:
        if self.client.id != PLUGIN_CLIENT and self.client.id not in HOOK_CLIENTS:
            names = (PLUGIN_CLIENT, *HOOK_CLIENTS)
            raise ValidationError("connect.memory_not_supported", client=self.client.name, clients=names)
        if print_only:
            self._print()
        elif self.client.id == PLUGIN_CLIENT:
            self._remove_plugin(yes=yes) if remove else self._add_plugin(yes=yes)
        else:
            self._remove_hooks(yes=yes) if remove else self._add_hooks(yes=yes)

    def login(self) -> Login:
        """The options have priority over the environment, and that over what was stored before."""
        stored = LoginFile(self.home).get()
        url = base_url(self.http) if self.http is not None else os.environ.get(URL, "").strip()
        url = (url or (stored.url if stored else DEFAULT_URL)).rstrip("/")
        if self.write_token:
            return Login(base_url(url), token=Options((SERVER,), token_env=self.token_env or TOKEN).token())
        same = stored if stored and stored.url == url and self.token_env is None else None
        return same or Login(base_url(url), self.token_env or TOKEN)

    def _print(self) -> None:
        if self.client.id == PLUGIN_CLIENT:
            from chie.connect.claude_plugin import rendered

            files = rendered(Login(self.login().url, self.token_env or TOKEN))
            click.echo("hooks/hooks.json:", err=True)
            click.echo(files["hooks/hooks.json"].decode(), nl=False)
            return
        config = HookConfig(self.client, self.home)
        click.echo(f"{config.path}:", err=True)
        click.echo(json.dumps(config.render(), indent=2, ensure_ascii=False))

    def _add_plugin(self, *, yes: bool) -> None:
        from chie.connect.claude_plugin import find_program

        find_program()  # before anything is asked
        plugin, login = self._plugin(), self.login()
        if plugin.is_current(login):
            click.echo(f"The plugin is already installed in {self.client.name} and asks {login.url}.")
            return
        click.echo(
            f"Installs the plugin `chie` in {self.client.name}, from {plugin.folder}. Its hooks ask {login.url}."
        )
        confirm(yes=yes)
        LoginFile(self.home).add(self.client.id, login)
        plugin.install(login)
        click.echo(f"Installed the plugin. {self._token_hint(login)}`/hooks` in a new session shows the hooks.")
        if SERVER in ClientConfig(self.client, self.home).own_entries():
            click.echo(
                "The plugin has the server `knowledge` too. `chie connect claude-code --remove` removes the other."
            )

    def _remove_plugin(self, *, yes: bool) -> None:
        plugin = self._plugin()
        if plugin.find() is None and not plugin.folder.exists():
            click.echo(f"The plugin is not installed in {self.client.name}.")
            return
        click.echo(f"Uninstalls the plugin `chie` from {self.client.name} and deletes {plugin.folder}.")
        confirm(yes=yes)
        plugin.remove()
        LoginFile(self.home).remove(self.client.id)
        click.echo("Uninstalled the plugin.")

    def _add_hooks(self, *, yes: bool) -> None:
        login = self.login()
        servers, hooks = ClientConfig(self.client, self.home), HookConfig(self.client, self.home)
        entries = {} if SERVER in servers.own_entries() else self._entries(login)
        edits: list[tuple[EditedFile, Plan]] = [(servers, servers.plan_adding(entries))] if entries else []
        changes = [edit for edit in edits if edit[1].changes]
        first = hooks.plan_adding()
        if not changes and not first.changes:
            LoginFile(self.home).add(self.client.id, login)
            click.echo(f"The hooks are already in {hooks.path} and ask {login.url}.")
            return
        for config, plan in [*changes, (hooks, first)]:
            show(config, plan, {}, [login.token] if login.token else [])
        confirm(yes=yes)
        LoginFile(self.home).add(self.client.id, login)
        for config, plan in changes:
            apply(config, plan)
        apply(hooks, hooks.plan_adding())  # again: in Gemini, the servers are in the same file
        click.echo(f"Added the hooks to {self.client.name}. {self._token_hint(login)}{hooks.hooks.next_step}".rstrip())

    def _remove_hooks(self, *, yes: bool) -> None:
        servers, hooks = ClientConfig(self.client, self.home), HookConfig(self.client, self.home)
        plan = hooks.plan_removing()
        own = self._own_server(servers)
        if not plan.changes and not own:
            click.echo(f"There are no hooks of Chie in {hooks.path}.")
            LoginFile(self.home).remove(self.client.id)
            return
        show(hooks, plan, {}, [])
        confirm(yes=yes)
        if plan.changes:
            apply(hooks, plan)
        if own:
            apply(servers, servers.plan_removing((SERVER,)))
        LoginFile(self.home).remove(self.client.id)
        click.echo(f"Removed the hooks from {self.client.name}.")

    def _own_server(self, servers: ClientConfig) -> bool:
        """Whether the list of servers has the one that came with the hooks."""
        login = LoginFile(self.home).get()
        entry = servers.own_entries().get(SERVER)
        return login is not None and entry is not None and entry.get("url") == f"{login.url}/mcp/{SERVER}"

    def _entries(self, login: Login) -> dict[str, dict[str, Any]]:
        """A client may reject a server whose token variable is not set, so it is named only if it is."""
        named = login.token_env if self.token_env or os.environ.get(login.token_env or "") else None
        return {SERVER: self.client.entry(HttpServer(f"{login.url}/mcp/{SERVER}", named, login.token))}

    def _token_hint(self, login: Login) -> str:
        if login.token or os.environ.get(login.token_env or ""):
            return ""
        return f"If Chie has users, set {login.token_env} to your token where {self.client.name} starts. "

    def _plugin(self) -> "ClaudePlugin":
        from chie.connect.claude_plugin import ClaudePlugin

        return ClaudePlugin(self.home)
