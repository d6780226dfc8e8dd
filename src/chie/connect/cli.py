"""The `chie connect` command."""

from typing import TYPE_CHECKING

import click

from chie.connect.mcp_clients import MCP_CLIENTS, McpClient
from chie.errors import ValidationError
from chie.servers import SERVERS

if TYPE_CHECKING:
    from chie.connect.config_edit import ClientConfig
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
@click.option(
    "--memory",
    is_flag=True,
    help="Also recall and capture notes by hooks: a plugin for Claude Code, hooks for Codex, Gemini and Cursor.",
)
@click.option("--remove", is_flag=True, help="Remove the servers again; with --memory, the hooks.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
def connect(
    client: str,
    servers: tuple[str, ...],
    http: str | None,
    token_env: str | None,
    env: tuple[str, ...],
    *,
    write_token: bool,
    print_only: bool,
    memory: bool,
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

    home = load(ConnectSettings).home.expanduser()
    if memory:
        if servers or env:
            raise ValidationError("connect.memory_with_servers")
        from chie.connect.memory import Memory

        return Memory(CLIENTS[client], home, http, token_env, write_token=write_token).run(
            print_only=print_only, remove=remove, yes=yes
        )
    options = Options(servers or DEFAULT_SERVERS, http, token_env, write_token, env)
    config = ClientConfig(CLIENTS[client], home)
    if print_only:
        click.echo(f"{config.path}:", err=True)
        click.echo(config.client.render(options.entries(config.client)), nl=False)
        _warn(config.client, options)
    elif remove:
        _remove(config, servers, yes=yes)
    else:
        _add(config, options, yes=yes)
    return None


def _add(config: "ClientConfig", options: "Options", *, yes: bool) -> None:
    from chie.connect.review import apply, confirm, show

    client = config.client
    entries = options.entries(client)
    plan = config.plan_adding(entries)
    if not plan.changes:
        click.echo(f"{client.name} is already connected; {config.path} was not changed.")
        _warn(client, options)
        return
    show(config, plan, entries, options.secrets())
    _warn(client, options)
    confirm(yes=yes)
    apply(config, plan)
    _explain_variables(client, options)
    click.echo(f"Connected {client.name} to {', '.join(options.servers)}. {client.next_step}")


def _remove(config: "ClientConfig", servers: tuple[str, ...], *, yes: bool) -> None:
    from chie.connect.review import apply, confirm, show

    names = servers or tuple(config.own_entries()) or DEFAULT_SERVERS
    removed = [name for name in names if name in config.entries()]
    plan = config.plan_removing(names)
    if not plan.changes:
        click.echo(f"{config.client.name} is not connected; {config.path} was not changed.")
        return
    show(config, plan, {}, [])
    confirm(yes=yes)
    apply(config, plan)
    click.echo(f"Disconnected {config.client.name} from {', '.join(removed)}.")


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
