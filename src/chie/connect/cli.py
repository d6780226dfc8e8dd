"""The `chie connect` command."""

import json
import sys
from collections.abc import Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import click

from chie.connect.mcp_clients import MCP_CLIENTS, McpClient
from chie.errors import ValidationError
from chie.servers import SERVERS

if TYPE_CHECKING:
    from chie.connect.config_edit import ClientConfig, Plan
    from chie.connect.options import Options

CLIENTS = {client.id: client for client in MCP_CLIENTS}
DEFAULT_SERVERS = ("knowledge",)


@click.command()
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option(
    "--server",
    "servers",
    type=click.Choice(list(SERVERS)),
    multiple=True,
    show_default=f"{DEFAULT_SERVERS[0]}; with --remove, all of Chie's",
    help="Server to connect; can be repeated.",
)
@click.option("--http", metavar="URL", help="Connect to a running Chie, such as http://127.0.0.1:8080.")
@click.option(
    "--token-env", metavar="NAME", help="Variable with the bearer token for --http; only its name is written."
)
@click.option(
    "--write-token", is_flag=True, help="Write the token itself in clear text, for clients without variables."
)
@click.option("--env", metavar="NAME[=VALUE]", multiple=True, help="Variable for the server: passed on, or written.")
@click.option("--print", "print_only", is_flag=True, help="Print the configuration without writing it.")
@click.option("--remove", is_flag=True, help="Remove the servers again.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
def connect(  # noqa: PLR0913 - one parameter per option
    client: str,
    servers: tuple[str, ...],
    http: str | None,
    token_env: str | None,
    env: tuple[str, ...],
    *,
    write_token: bool,
    print_only: bool,
    remove: bool,
    yes: bool,
) -> None:
    """Add Chie's servers to the configuration of an MCP client.

    Everything else in that file stays byte for byte as it is; the change is shown first, and a backup is kept.
    """
    if print_only and remove:
        raise ValidationError("connect.print_with_remove")

    from chie.connect.config_edit import ClientConfig
    from chie.connect.options import Options
    from chie.connect.settings import ConnectSettings
    from chie.settings import load

    options = Options(servers or DEFAULT_SERVERS, http, token_env, write_token, env)
    config = ClientConfig(CLIENTS[client], load(ConnectSettings).home.expanduser())
    if print_only:
        click.echo(f"{config.path}:", err=True)
        click.echo(config.client.render(options.entries(config.client)), nl=False)
        _warn(config.client, options)
    elif remove:
        _remove(config, servers, yes=yes)
    else:
        _add(config, options, yes=yes)


def _add(config: "ClientConfig", options: "Options", *, yes: bool) -> None:
    client = config.client
    entries = options.entries(client)
    plan = config.plan_adding(entries)
    if not plan.changes:
        click.echo(f"{client.name} is already connected; {config.path} was not changed.")
        _warn(client, options)
        return
    _show(config, plan, entries, options.secrets())
    _warn(client, options)
    _confirm(yes=yes)
    _apply(config, plan)
    _explain_variables(client, options)
    click.echo(f"Connected {client.name} to {', '.join(options.servers)}. {client.next_step}")


def _remove(config: "ClientConfig", servers: tuple[str, ...], *, yes: bool) -> None:
    names = servers or tuple(config.own_entries()) or DEFAULT_SERVERS
    removed = [name for name in names if name in config.entries()]
    plan = config.plan_removing(names)
    if not plan.changes:
        click.echo(f"{config.client.name} is not connected; {config.path} was not changed.")
        return
    _show(config, plan, {}, [])
    _confirm(yes=yes)
    _apply(config, plan)
    click.echo(f"Disconnected {config.client.name} from {', '.join(removed)}.")


def _apply(config: "ClientConfig", plan: "Plan") -> None:
    backup = config.apply(plan)
    if backup:
        click.echo(f"Backup of the previous file: {backup}")


def _confirm(*, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValidationError("connect.confirmation_required")
    click.confirm("Write this?", abort=True)


def _show(config: "ClientConfig", plan: "Plan", entries: Mapping[str, Mapping[str, Any]], secrets: list[str]) -> None:
    """Print the diff. Context lines belong to the user, so anything that looks like a secret is hidden."""
    before, after = (plan.before or "").splitlines(), (plan.after or "").splitlines()
    path = str(config.path)
    names = ("/dev/null" if plan.before is None else path, "/dev/null" if plan.after is None else path)
    for line in unified_diff(before, after, *names, n=1, lineterm=""):
        shown = _redacted(line, config.client, entries)
        for secret in secrets:
            shown = shown.replace(secret, "***")
        click.secho(shown, fg={"+": "green", "-": "red"}.get(line[:1]))


def _redacted(line: str, client: McpClient, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Our own entries stay readable, with the names of their variables; secrets in all other text are hidden."""
    from chie.logging import redact

    if not line.startswith("+"):
        return redact(line)
    if line[1:].strip().rstrip(",") in {own.strip().rstrip(",") for own in client.render(entries).splitlines()}:
        return line
    for entry in entries.values():  # a file without line breaks has all of its servers in one line
        before, own, after = line.partition(json.dumps(entry, ensure_ascii=False))
        if own:
            return _redacted(before, client, entries) + own + _redacted(f"+{after}", client, entries)[1:]
    return redact(line)


def _warn(client: McpClient, options: "Options") -> None:
    """Name what the servers will lack, before anything is written."""
    from chie.installation.commands import install_extra
    from chie.settings import ENV_FILE, home_folder

    for server, missing in options.missing_variables(client).items():
        names = " and ".join(missing)
        pronoun = "them" if len(missing) > 1 else "it"
        how = f"Set {pronoun} where {client.name} starts and add " if client.env_reference else "Add "
        how += " ".join(f"--env {name}{'' if client.env_reference else '=VALUE'}" for name in missing)
        file = home_folder().expanduser() / ENV_FILE
        click.secho(
            f"{server} will not start without {names}. {how}, or write {pronoun} into {file}.", fg="yellow", err=True
        )
    for extra in sorted(options.missing_extras()):
        click.secho(f"A package is missing. Run `{install_extra(extra)}`.", fg="yellow", err=True)


def _explain_variables(client: McpClient, options: "Options") -> None:
    if passed := options.referenced_variables(client):
        names = ", ".join(passed)
        hint = "" if options.http else f" To store a value in the file instead, use --env {passed[0]}=VALUE."
        click.echo(f"The server gets {names} by name: set them where {client.name} starts.{hint}")
    if missing := options.unsupported_variables(client):
        click.echo(
            f"{client.name} cannot pass on variables, so the server does not get {', '.join(missing)}. "
            "Add --env NAME=VALUE for the ones it needs."
        )
