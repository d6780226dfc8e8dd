"""`chie doctor`, as it is typed."""

import json
import os
import sys
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from chie.doctor.finding import Check, Examination, Finding

LOOKS = {"ok": ("✓", "green"), "off": ("–", None), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
@click.option(
    "--port",
    envvar="PORT",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port that `chie serve` shall have.",
)
def doctor(port: int, *, as_json: bool) -> None:
    """Check everything that Chie needs, and say what mends what is wrong.

    The exit code is 1 where something is wrong. What nobody set up is not wrong.
    """
    from chie.doctor.finding import examine
    from chie.logging import configure

    configure("critical")  # what a check meets is told in its line
    found = examine(all_checks(port))
    _print_json(found) if as_json else _print_lines(found.findings)
    sys.stdout.flush()
    code = 0 if found.well else 1
    if found.late:
        os._exit(code)  # a driver that never returned would keep the process
    sys.exit(code)


def all_checks(port: int) -> "list[Check]":
    from chie.doctor import machine, notes, services
    from chie.doctor import users as people
    from chie.doctor.finding import SETTINGS, Check
    from chie.servers import SERVERS

    for module in (*SERVERS.values(), "chie.chat.agents.builtin", "chie.setup.endpoints", "httpx2"):
        import_module(module)  # here and not in the checks' threads, which would get in each other's way

    others = [name for name in SERVERS if name != notes.NAME]
    return [
        Check("versions", machine.check_versions, machine.UPGRADE),
        Check("home", machine.check_home, SETTINGS),
        Check("database", machine.check_database, machine.RESTORE, seconds=60),
        Check("PostgreSQL", machine.check_postgres, machine.ASK_POSTGRES),
        Check(people.NAME, people.check_users, SETTINGS, people.SECONDS),
        Check("embedding model", services.check_embedding, "unset CHIE_EMBEDDING_URL"),
        Check(notes.NAME, notes.check_notes, SETTINGS, notes.SECONDS),
        *(Check(name, partial(services.check_room, name), services.ROOM_FIXES[name]) for name in others),
        Check("models", services.check_models, SETTINGS),
        Check("agents.json, servers.json", services.check_agents, SETTINGS),
        Check("MCP servers", services.check_servers, SETTINGS),
        Check("port", partial(machine.check_port, port), "chie serve --port 0"),
        Check("assistants", machine.check_hosts, "chie connect claude-code"),
    ]


def _print_json(found: "Examination") -> None:
    body = {"well": found.well, "findings": [_shown(finding) for finding in found.findings]}
    click.echo(json.dumps(body, ensure_ascii=False, indent=2))


def _print_lines(findings: "list[Finding]") -> None:
    width = max(len(finding.check) for finding in findings)
    for finding in map(_shown, findings):
        symbol, colour = LOOKS[finding["state"]]
        click.secho(f"{symbol} {finding['check']:{width}}  ", fg=colour, nl=False)
        click.echo(finding["says"])
        if finding["fix"] and finding["state"] in ("warning", "problem"):
            click.echo(f"  {'':{width}}  → {finding['fix']}")
    wrong = sum(finding.state == "problem" for finding in findings)
    click.echo("Nothing is wrong." if not wrong else f"{wrong} of {len(findings)} are wrong.")


def _shown(finding: "Finding") -> dict[str, str]:
    """Whatever came from outside may hold a secret."""
    from chie.logging import redact

    return {**asdict(finding), "says": redact(finding.says)}
