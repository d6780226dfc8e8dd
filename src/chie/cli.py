"""The `chie` command. A module is imported by the command that needs it, to keep the start-up short."""

import gc
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from chie import __version__
from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.servers import LOGGING_SERVERS, SERVERS, add_server_logs, create_stand_alone_server, log_folder, server_log

HOST = click.option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
PORT = click.option(
    "--port",
    envvar="PORT",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port; 0 picks a free one.",
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
    help="Log to this file as JSON, instead of the terminal.",
)
LOG_DIR = click.option(
    "--log-dir",
    envvar="CHIE_LOG_DIR",
    show_default="logs in CHIE_HOME",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the log files that are always written: `chie.log` of `chie serve`, and `n8n.log`.",
)
WORKERS = click.option(
    "--workers",
    envvar="CHIE_WORKERS",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes that share the port and the database.",
)
HELP = {"help_option_names": ["-h", "--help"]}

COMMANDS = {
    "notes": "chie.enrich",
    "inbox": "chie.knowledge.inbox.cli",
    "eval": "chie.knowledge.evaluation.cli",
    "spaces": "chie.knowledge.spaces.cli",
    "db": "chie.chat.sessions.cli",
    "sessions": "chie.chat.imports.cli",
    "knowledge": "chie.knowledge.cli.collection",
    "n8n": "chie.n8n.cli",
    "users": "chie.access.cli",
    "connect": "chie.connect.cli",
    "hook": "chie.hook.cli",
    "doctor": "chie.doctor.cli",
    "backup": "chie.backup.cli",
    "restore": "chie.backup.cli",
    "service": "chie.service.cli",
    "usage": "chie.chat.usage.cli",
}  # commands defined in other modules, imported on use


class Program(click.Command):
    """The CLI's translator: a ChieError becomes one line and exit code 1; other exceptions keep their stack."""

    def main(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        repair_streams()
        try:
            return super().main(*args, **options)
        except OSError:
            if (reason := _output_error()) is None:
                raise
            click.echo(f"Error: {Message('cli.output_failed', reason=reason)}", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        try:
            return super().invoke(ctx)
        except ChieError as error:
            from chie.installation.commands import followable

            raise click.ClickException(followable(error.message)) from error


class MainGroup(Program, click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *COMMANDS])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in COMMANDS:
            command: click.Command = getattr(import_module(COMMANDS[name]), name)
            return command
        return super().get_command(ctx, name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names without help texts, which would need an import of every command at each press of Tab."""
        names = [CompletionItem(name) for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


class ServerProgram(Program):
    """`chie mcp SERVER` as a program of its own, for assistants that expect a single command."""

    def __init__(self, server: str, name: str) -> None:
        super().__init__(
            name,
            context_settings=HELP,
            callback=partial(mcp.callback or mcp, server),
            params=[param for param in mcp.params if param.name != "server"],
            help=f"Run the MCP server {server} for an assistant that starts it itself.",
        )


@click.group(cls=MainGroup, invoke_without_command=True, context_settings=HELP)
@click.version_option(__version__, prog_name="chie")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Chie (知恵): self-hosted MCP servers for team notes, Bedrock knowledge bases and n8n, with a chat UI.

    Without a command, runs `chie serve`.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve)


@main.command()
@HOST
@PORT
@WORKERS
@LOG_LEVEL
@LOG_FILE
@LOG_DIR
@click.option("--lambda", "on_lambda", is_flag=True, help="Serve the invocations of AWS Lambda instead of a port.")
def serve(
    *, host: str, port: int, workers: int, log_level: str, log_file: Path | None, log_dir: Path | None, on_lambda: bool
) -> None:
    """Run everything in one process: the web page, the chat and every MCP server."""
    from chie.logging import configure

    if on_lambda:
        _log(log_level, log_file)  # Lambda keeps what is written to stderr; its disk is gone with the process
        from chie.app import run_on_lambda

        return run_on_lambda()
    configure(log_level, log_file, activity=log_folder(log_dir) / "chie.log", rotate=True)
    if workers > 1:
        from chie.http.workers import run_workers

        command = [sys.executable, "-m", "chie", "serve", "--workers", "1", "--host", host, "--log-level", log_level]
        command += ["--log-file", str(log_file)] if log_file else []
        command += ["--log-dir", str(log_dir)] if log_dir else []
        return run_workers(command, workers, host=host, port=port, announce=_announce_app)
    add_server_logs(log_dir)
    with gc_frozen_afterwards():
        from chie.access.authentication import load_authenticator
        from chie.app import load_app
        from chie.http.server import run_http

        authenticator = load_authenticator()
        app = load_app(authenticator)
    return run_http(app, host=host, port=port, announce=_announce_app, allow_remote=authenticator.allows_remote)


@main.command()
@click.argument("server", type=click.Choice(list(SERVERS)))
@click.option("--http", is_flag=True, help="Serve HTTP at /mcp instead of stdio.")
@HOST
@PORT
@LOG_LEVEL
@LOG_FILE
@LOG_DIR
def mcp(
    server: str, *, http: bool, host: str, port: int, log_level: str, log_file: Path | None, log_dir: Path | None
) -> None:
    """Run one MCP server for an assistant that starts it itself."""
    from chie.settings import without_current_folder

    if log_file is None and server in LOGGING_SERVERS:
        with nullcontext() if http else without_current_folder():
            log_file = server_log(server, log_dir)
    _log(log_level, log_file)
    return _run_http(server, host, port) if http else _run_stdio(server)


def _run_http(name: str, host: str, port: int) -> None:
    from chie.access.authentication import load_authenticator
    from chie.access.middleware import protect
    from chie.http.server import run_http
    from chie.mcp_kit.server import http_app

    authenticator = load_authenticator()
    note_paths = ("/mcp",) if name == "knowledge" else ()
    app = protect(http_app(create_stand_alone_server(name), "/mcp"), authenticator, note_paths=note_paths)
    run_http(app, host=host, port=port, announce=_announce_server, allow_remote=authenticator.allows_remote)


def _run_stdio(name: str) -> None:
    from chie.mcp_kit.server import run_stdio
    from chie.settings import without_current_folder

    with without_current_folder():
        server = create_stand_alone_server(name)
        if sys.stdin.isatty():
            click.echo(f"{server.name} is waiting for an MCP client on stdin (press Ctrl+C to stop)", err=True)
        run_stdio(server)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes chie's commands in your shell.

    \b
    bash:  chie completion bash >> ~/.bashrc
    zsh:   chie completion zsh >> ~/.zshrc    (below the line with compinit)
    fish:  chie completion fish > ~/.config/fish/completions/chie.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click supports these three"  # noqa: S101
    script = kind(main, {}, "chie", "_CHIE_COMPLETE")
    click.echo(script.source_template % script.source_vars())


def repair_streams() -> None:
    """Replace closed streams with null devices, and let stdout replace characters that its encoding lacks.

    Stderr escapes such characters already. The next file opened would get the descriptor of a closed stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - stays open
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _output_error() -> str | None:
    """Why stdout cannot be written. Its buffer is discarded, or Python would try to flush it again at exit."""
    try:
        click.echo()  # raises again, also on an unbuffered stream
    except OSError as error:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        return error.strerror
    return None


@contextmanager
def gc_frozen_afterwards() -> Iterator[None]:
    """Exclude the objects made in the block, which live as long as the process, from garbage collection.

    Scanning them would slow the start, and later pause every stream for a tenth of a second now and then.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def knowledge_gateway() -> None:
    """The console script `knowledge-gateway`."""
    ServerProgram("knowledge", "knowledge-gateway")(prog_name="knowledge-gateway")


def mcp_bedrock_kb() -> None:
    """The console script `mcp-bedrock-kb`."""
    ServerProgram("bedrock-kb", "mcp-bedrock-kb")(prog_name="mcp-bedrock-kb")


def n8n_mcp_server() -> None:
    """The console script `n8n-mcp-server`."""
    ServerProgram("n8n", "n8n-mcp-server")(prog_name="n8n-mcp-server")


def _log(level: str, file: Path | None) -> None:
    from chie.logging import configure

    configure(level, file)


def _announce_app(*urls: str) -> None:
    click.echo(f"Chie is running at {' and '.join(urls)} (press Ctrl+C to stop)")


def _announce_server(*urls: str) -> None:
    click.echo(
        f"The MCP server is running at {' and '.join(f'{url}/mcp' for url in urls)} (press Ctrl+C to stop)", err=True
    )
