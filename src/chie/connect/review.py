"""Shows the change of a configuration file, asks for confirmation and writes it."""

import json
import sys
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, Protocol

import click

from chie.connect.config_edit import Plan
from chie.connect.mcp_clients import McpClient
from chie.errors import ValidationError


class EditedFile(Protocol):
    """A file of servers or of hooks."""

    client: McpClient
    path: Path

    def apply(self, plan: Plan) -> Path | None: ...


def apply(config: EditedFile, plan: Plan) -> None:
    backup = config.apply(plan)
    if backup:
        click.echo(f"Backup of the previous file: {backup}")


def confirm(*, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValidationError("connect.confirmation_required")
    click.confirm("Write this?", abort=True)


def show(config: EditedFile, plan: Plan, entries: Mapping[str, Mapping[str, Any]], secrets: list[str]) -> None:
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
