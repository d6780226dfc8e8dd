"""The `chie` command: pick a room, load its settings, run it. Rooms are imported by the command that needs them."""

import gc
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from chie import __version__
from chie.errors import ChieError
from chie.servers import SERVERS, create_server

HOST = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
PORT = click.option(
    "--port",
    envvar="PORT",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port; 0 takes a free one.",
)
LOG_LEVEL = click.option(
    "--log-level",
    envvar="CHIE_LOG_LEVEL",
    default="warning",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"], case_sensitive=False),
)
LOG_FILE = click.option(
    "--log-file",
    envvar="CHIE_LOG_FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Log there as JSON.",
)
LOG_DIR = click.option(
    "--log-dir",
    envvar="CHIE_LOG_DIR",
    default="logs",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the log file, for a server that keeps one (n8n) and where --log-file names none.",
)
WORKERS = click.option(
    "--workers",
    envvar="CHIE_WORKERS",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes that share the address and the database.",
)
HELP = {"help_option_names": ["-h", "--help"]}
KEEP_LOGS = ("n8n",)  # its hosts show nothing of stderr, and a change of a live workflow must leave a trace


ROOMS = {
    "notes": "chie.knowledge.cli",
    "db": "chie.chat.sessions.cli",
    "knowledge": "chie.knowledge.collection_cli",
    "users": "chie.access.cli",
    "connect": "chie.connect.cli",
    "doctor": "chie.doctor.cli",
    "backup": "chie.backup.cli",
    "restore": "chie.backup.cli",
    "completion": "chie.completion",
}  # commands that live in their room, imported when they are asked for


class Program(click.Command):
    """The CLI's edge: whatever its streams are, it does its work, and our errors become one line and exit code 1;
    anything else is a bug and keeps its stack."""

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        mend_streams()
        try:
            return super().main(*args, **options)
        except OSError:
            if (reason := _refusal_of_output()) is None:
                raise
            click.echo(f"Error: what was to be shown cannot be written: {reason}.", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        try:
            return super().invoke(ctx)
        except ChieError as error:
            raise click.ClickException(error.message) from error


class Door(Program, click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ROOMS])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in ROOMS:
            command: click.Command = getattr(import_module(ROOMS[name]), name)
            return command
        return super().get_command(ctx, name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names alone: the rooms' own help would have to be loaded for every press of the key."""
        names = [CompletionItem(name) for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


class OneServer(Program):
    """`chie mcp SERVER` as a program of its own, for hosts that want one plain command."""

    def __init__(self, server: str, name: str) -> None:
        super().__init__(
            name,
            context_settings=HELP,
            callback=partial(mcp.callback or mcp, server),
            params=[param for param in mcp.params if param.name != "server"],
            help=f"Run the MCP server {server}, for an assistant that starts it itself.",
        )


@click.group(cls=Door, invoke_without_command=True, context_settings=HELP)
@click.version_option(__version__, prog_name="chie")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Chie (知恵): one home for what your team knows and can do.

    Without a command it starts the house, as `chie serve` does.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve)


@main.command()
@HOST
@PORT
@WORKERS
@LOG_LEVEL
@LOG_FILE
def serve(host: str, port: int, workers: int, log_level: str, log_file: Path | None) -> None:
    """Start the house: the web page and every MCP server behind one address."""
    _log(log_level, log_file)
    if workers > 1:
        from chie.http.workers import run_workers

        command = [sys.executable, "-m", "chie", "serve", "--workers", "1", "--host", host, "--log-level", log_level]
        command += ["--log-file", str(log_file)] if log_file else []
        return run_workers(command, workers, host=host, port=port, announce=_announce_house)
    with settling():
        from chie.app import load_app
        from chie.mcp_kit.server import run_http

        house = load_app()
    return run_http(house, host=host, port=port, announce=_announce_house)


@main.command()
@click.argument("server", type=click.Choice(list(SERVERS)))
@click.option("--http", is_flag=True, help="Serve HTTP at /mcp instead of stdio.")
@HOST
@PORT
@LOG_LEVEL
@LOG_FILE
@LOG_DIR
def mcp(server: str, *, http: bool, host: str, port: int, log_level: str, log_file: Path | None, log_dir: Path) -> None:
    """Run one MCP server, for an assistant that starts it itself."""
    if log_file is None and server in KEEP_LOGS:
        log_file = log_dir / f"{server}.log"
    _log(log_level, log_file)
    from chie.access.authentication import load_authenticator
    from chie.access.guard import protect
    from chie.mcp_kit.server import http_app, run_http, run_stdio

    if http:
        app = protect(http_app(create_server(server), "/mcp"), load_authenticator())
        run_http(app, host=host, port=port, announce=_announce_server)
    else:
        from chie.settings import without_folder

        with without_folder():
            room = create_server(server)
            if sys.stdin.isatty():
                click.echo(f"{room.name} waits for an MCP client on this terminal  (stop it with Ctrl+C)", err=True)
            run_stdio(room)


def mend_streams() -> None:
    """Nothing shall fail because of where the words go: a closed stream, or one whose encoding lacks a letter.

    Stderr writes such letters as escapes already. A closed stream's number would go to the next file that is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _refusal_of_output() -> str | None:
    """Why stdout takes nothing more; what it still holds is given up, or Python would try again at its end."""
    try:
        click.echo()  # a stream without a buffer holds nothing that would tell it again
    except OSError as error:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        return error.strerror
    return None


@contextmanager
def settling() -> Iterator[None]:
    """What a start makes stays for good: looking through it for garbage would slow the start, and halt every stream
    for a tenth of a second now and then."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def knowledge_gateway() -> None:
    """The console script of that name."""
    OneServer("knowledge", "knowledge-gateway")(prog_name="knowledge-gateway")


def mcp_bedrock_kb() -> None:
    """The console script `mcp-bedrock-kb`."""
    OneServer("bedrock-kb", "mcp-bedrock-kb")(prog_name="mcp-bedrock-kb")


def n8n_mcp_server() -> None:
    """The console script of that name."""
    OneServer("n8n", "n8n-mcp-server")(prog_name="n8n-mcp-server")


def _log(level: str, file: Path | None) -> None:
    from chie.logging import configure

    configure(level, file)


def _announce_house(address: str) -> None:
    click.echo(f"Chie is at {address}  (stop it with Ctrl+C)")


def _announce_server(address: str) -> None:
    click.echo(f"MCP at {address}/mcp  (stop it with Ctrl+C)", err=True)
