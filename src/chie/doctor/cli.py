"""The `chie doctor` command."""

import json
import os
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from chie.doctor.finding import Finding
    from chie.doctor.runner import Check, Report

SYMBOLS = {"ok": ("✓", "green"), "off": ("–", None), "warning": ("!", "yellow"), "problem": ("✗", "red")}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
@click.option(
    "--port",
    envvar="PORT",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port that `chie serve` is to use.",
)
def doctor(port: int, *, as_json: bool) -> None:
    """Check everything that Chie depends on, and show how to fix problems.

    The exit code is 1 if there is a problem. What is not configured is not a problem.
    """
    from chie.doctor.runner import run_checks
    from chie.logging import configure

    configure("critical")  # findings report what went wrong
    report = run_checks(all_checks(port))
    _print_json(report) if as_json else _print_lines(report.findings)
    sys.stdout.flush()
    code = 0 if report.ok else 1
    if report.unfinished:
        os._exit(code)  # a driver that never returns would keep the process alive
    sys.exit(code)


def all_checks(port: int) -> "list[Check]":
    from chie.doctor import clients, knowledge, machine, memory, models, servers, storage, users
    from chie.doctor.finding import EDIT_SETTINGS
    from chie.doctor.runner import Check
    from chie.installation.commands import upgrade_chie
    from chie.servers import SERVERS

    for module in (*SERVERS.values(), "chie.chat.agents.assembly", "chie.setup.endpoints", "httpx2"):
        import_module(module)  # not in the threads of the checks, where imports would block each other

    others = [name for name in SERVERS if name != knowledge.NAME]
    return [
        Check("versions", machine.check_versions, upgrade_chie()),
        Check("home", storage.check_home, EDIT_SETTINGS),
        Check("database", storage.check_database, storage.RESTORE, timeout_seconds=60),
        Check("PostgreSQL", storage.check_postgres, storage.PING_POSTGRES),
        Check(users.NAME, users.check_users, EDIT_SETTINGS, users.TIMEOUT_SECONDS),
        Check("embedding model", models.check_embedding, "unset CHIE_EMBEDDING_URL"),
        Check(knowledge.NAME, knowledge.check_knowledge, EDIT_SETTINGS, knowledge.TIMEOUT_SECONDS),
        *(Check(name, partial(servers.check_server, name), servers.FIXES[name]) for name in others),
        Check("models", models.check_models, EDIT_SETTINGS),
        Check(servers.AGENTS, servers.check_agents, EDIT_SETTINGS),
        Check("MCP servers", servers.check_mcp_servers, EDIT_SETTINGS),
        Check("port", partial(machine.check_port, port), machine.FREE_PORT),
        Check("service", machine.check_service, machine.SHOW_SERVICE),
        Check("MCP clients", clients.check_clients, clients.CONNECT),
        Check(memory.NAME, memory.check_memory, memory.INSTALL),
    ]


def _print_json(report: "Report") -> None:
    body = {"ok": report.ok, "findings": [_as_json(finding) for finding in report.findings]}
    click.echo(json.dumps(body, ensure_ascii=False, indent=2))


def _as_json(finding: "Finding") -> dict[str, Any]:
    from chie.installation.commands import followable

    message = finding.message
    return {
        "check": finding.check,
        "state": finding.state,
        "message": _shown(str(message)),
        "code": message.code,
        "params": _shown(message.json_params()),
        "fix": followable(finding.fix) if finding.fix else None,
    }


def _shown(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Texts from outside may contain secrets."""
    from chie.installation.commands import followable
    from chie.logging import redact

    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return followable(redact(value)) if isinstance(value, str) else value


def _print_lines(findings: "list[Finding]") -> None:
    from chie.installation.commands import followable

    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        symbol, colour = SYMBOLS[finding.state]
        click.secho(f"{symbol} {finding.check:{width}}  ", fg=colour, nl=False)
        click.echo(_shown(str(finding.message)))
        if finding.fix and finding.state in ("warning", "problem"):
            click.echo(f"  {'':{width}}  → {followable(finding.fix)}")
    problems = sum(finding.state == "problem" for finding in findings)
    click.echo(f"Problems: {problems} of {len(findings)} checks." if problems else "No problems found.")
