"""`chie connect`: one command instead of a look into an assistant's manual."""

import json
import sys
from collections.abc import Mapping
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import click

from chie.connect.mcp_clients import HOSTS, Host
from chie.errors import ValidationError
from chie.servers import SERVERS

if TYPE_CHECKING:
    from chie.connect.config_edit import Connection, Plan
    from chie.connect.options import Wanted

NAMES = {host.id: host for host in HOSTS}
USUAL = ("knowledge",)


@click.command()
@click.argument("host", type=click.Choice(list(NAMES)))
@click.option(
    "--server",
    "servers",
    type=click.Choice(list(SERVERS)),
    multiple=True,
    show_default=f"{USUAL[0]}; with --remove, all of ours",
    help="Which server; may be given several times.",
)
@click.option("--http", metavar="URL", help="Use a house that runs already, such as http://127.0.0.1:8080.")
@click.option(
    "--token-env", metavar="NAME", help="Variable with the bearer token for --http; only its name is written."
)
@click.option(
    "--write-token", is_flag=True, help="Write that token itself, in clear, for a host that knows no variables."
)
@click.option("--env", metavar="NAME[=VALUE]", multiple=True, help="Variable for the server: handed on, or written.")
@click.option("--print", "print_only", is_flag=True, help="Show what belongs in the file, and write nothing.")
@click.option("--remove", is_flag=True, help="Take it out again.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
def connect(  # noqa: PLR0913 - an option each
    host: str,
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
    """Write our servers into an assistant's own configuration.

    Everything else in that file stays as it is, byte for byte; the change is shown first, and a copy is kept.
    """
    if print_only and remove:
        raise ValidationError("--print shows what to add, and --remove takes it out. Leave out one of the two.")

    from chie.connect.config_edit import Connection
    from chie.connect.options import Wanted
    from chie.connect.settings import ConnectSettings
    from chie.settings import load

    wanted = Wanted(servers or USUAL, http, token_env, write_token, env)
    connection = Connection(NAMES[host], load(ConnectSettings).home.expanduser())
    if print_only:
        click.echo(f"{connection.path}:", err=True)
        click.echo(NAMES[host].render(wanted.entries(NAMES[host])), nl=False)
    elif remove:
        _remove(connection, servers, yes=yes)
    else:
        _add(connection, wanted, yes=yes)


def _add(connection: "Connection", wanted: "Wanted", *, yes: bool) -> None:
    host = connection.host
    entries = wanted.entries(host)
    plan = connection.plan_adding(entries)
    if not plan.changes:
        click.echo(f"{host.name} is connected already: {connection.path} was not changed.")
        return
    _show(connection, plan, entries, wanted.secrets())
    _ask(yes=yes)
    _carry_out(connection, plan)
    _tell_variables(host, wanted)
    click.echo(f"{host.name} knows {', '.join(wanted.servers)} now. {host.afterwards}")


def _remove(connection: "Connection", servers: tuple[str, ...], *, yes: bool) -> None:
    names = servers or tuple(connection.ours()) or USUAL
    gone = [name for name in names if name in connection.entries()]
    plan = connection.plan_removing(names)
    if not plan.changes:
        click.echo(f"{connection.host.name} is not connected: {connection.path} was not changed.")
        return
    _show(connection, plan, {}, [])
    _ask(yes=yes)
    _carry_out(connection, plan)
    click.echo(f"{connection.host.name} no longer knows {', '.join(gone)}.")


def _carry_out(connection: "Connection", plan: "Plan") -> None:
    backup = connection.carry_out(plan)
    if backup:
        click.echo(f"The file as it was: {backup}")


def _ask(*, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException("nobody can be asked here, so nothing was written. Add --yes to write it.")
    click.confirm("Write this?", abort=True)


def _show(connection: "Connection", plan: "Plan", entries: Mapping[str, Mapping[str, Any]], secrets: list[str]) -> None:
    """Lines of others are there to find the place by; what looks like a secret in them is hidden."""
    before, after = (plan.before or "").splitlines(), (plan.after or "").splitlines()
    path = str(connection.path)
    ends = ("/dev/null" if plan.before is None else path, "/dev/null" if plan.after is None else path)
    for line in unified_diff(before, after, *ends, n=1, lineterm=""):
        shown = _readable(line, connection.host, entries)
        for secret in secrets:
            shown = shown.replace(secret, "***")
        click.secho(shown, fg={"+": "green", "-": "red"}.get(line[:1]))


def _readable(line: str, host: Host, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Ours as it will stand in the file, with its names of variables; around it, and else, secrets are hidden."""
    from chie.logging import redact

    if not line.startswith("+"):
        return redact(line)
    if line[1:].strip().rstrip(",") in {ours.strip().rstrip(",") for ours in host.render(entries).splitlines()}:
        return line
    for entry in entries.values():  # a file without line ends has all its servers in one line
        before, ours, after = line.partition(json.dumps(entry, ensure_ascii=False))
        if ours:
            return _readable(before, host, entries) + ours + _readable(f"+{after}", host, entries)[1:]
    return redact(line)


def _tell_variables(host: Host, wanted: "Wanted") -> None:
    if named := wanted.named(host):
        click.echo(
            f"Its server is handed {', '.join(named)} by name: see that they are set where {host.name} starts"
            f"{'.' if wanted.http else f', or write one down with --env {named[0]}=VALUE.'}"
        )
    if left := wanted.left_out(host):
        click.echo(
            f"{host.name} cannot hand on variables, so the server will not know {', '.join(left)}. "
            "Add --env NAME=VALUE for those that it needs."
        )
