"""The `chie service` commands."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chie.errors import ConflictError, ServiceError

if TYPE_CHECKING:
    from chie.service.definition import Definition, Manager


@click.group()
def service() -> None:
    """Run `chie serve` in the background, at every login and again after a crash.

    Uses systemd on Linux, launchd on macOS and the Task Scheduler on Windows, for the current user alone.
    """


@service.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes to start.")
@click.option(
    "--env", metavar="NAME[=VALUE]", multiple=True, help="Variable for the service, with this shell's value or VALUE."
)
@click.option("--print", "print_only", is_flag=True, help="Print the definition without writing or starting anything.")
def install(host: str, port: int, workers: int, env: tuple[str, ...], *, print_only: bool) -> None:
    """Install the service and start it, or replace it with these options."""
    from chie.service.definition import define
    from chie.service.managers import find_manager

    home = _home()
    arguments = ["--host", host, "--port", str(port), *(["--workers", str(workers)] if workers > 1 else [])]
    definition = define(arguments, env, home, os.environ)
    manager = find_manager(home)
    if print_only:
        for file in manager.files(definition):
            click.echo(f"{file.path}:", err=True)
            click.echo(file.text, nl=False)
    else:
        manager.require()
        _write(manager, definition)
        manager.start()
        click.echo(f"Chie runs in the background at http://{host}:{port} and starts when you log in.")
        click.echo(f"Log: {manager.log_command(home)}")
        if advice := manager.advice():
            click.echo(advice)
    _name_variables_left_out(definition)


@service.command()
def status() -> None:
    """Show whether the service is installed and running; the exit code is 1 if it is not."""
    from chie.installation.commands import followable
    from chie.service.managers import find_manager

    home = _home()
    manager = find_manager(home)
    if not manager.file.is_file():
        click.echo(followable("Not installed. Install it with `chie service install`."))
        sys.exit(1)
    state = manager.state()
    click.echo(f"State: {state.detail}\nDefinition: {manager.file}\nLog: {manager.log_command(home)}")
    sys.exit(0 if state.running else 1)


@service.command()
def remove() -> None:
    """Stop the service and remove it. Notes, conversations and settings stay."""
    from chie.service.managers import find_manager

    manager = find_manager(_home())
    if not manager.file.is_file():
        click.echo("The service is not installed; nothing was changed.")
        return
    _require_own(manager)
    manager.require()
    manager.stop()
    click.echo(f"Stopped the service and removed {manager.file}. {_home()} was not changed.")


def _home() -> Path:
    from chie.settings import home_folder

    return home_folder().expanduser().absolute()


def _write(manager: "Manager", definition: "Definition") -> None:
    """The folder of the log must exist, because service managers do not create it."""
    from chie.files import make_folder, replacing

    _require_own(manager)
    try:
        make_folder(definition.log.parent)
        for file in manager.files(definition):
            make_folder(file.path.parent)
            with replacing(file.path) as draft:
                draft.write_text(file.text, encoding=file.encoding)
    except OSError as error:
        raise ServiceError("service.file_not_written", file=str(manager.file), reason=error.strerror or "") from error


def _require_own(manager: "Manager") -> None:
    from chie.service.definition import MARKER

    if manager.file.exists() and MARKER.encode() not in manager.file.read_bytes().replace(b"\0", b""):  # or UTF-16
        raise ConflictError("service.foreign_file", file=str(manager.file))


def _name_variables_left_out(definition: "Definition") -> None:
    from chie.service.definition import variables_left_out
    from chie.settings import ENV_FILE, home_variables

    if names := variables_left_out(definition, home_variables(), os.environ):
        file = definition.home / ENV_FILE
        click.secho(
            f"The service does not get {', '.join(names)}. Write them into {file}, or add --env NAME.",
            fg="yellow",
            err=True,
        )
