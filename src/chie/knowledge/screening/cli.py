"""`chie notes scan`."""

from typing import Any

import click

from chie.errors import ForbiddenError
from chie.knowledge.cli.options import AS_JSON
from chie.knowledge.cli.shared import open_service, print_json
from chie.knowledge.markdown.folder import all_notes
from chie.knowledge.note import Note
from chie.knowledge.screening.scan import Suspicion, scan
from chie.knowledge.screening.screen import screened, secrets_in
from chie.knowledge.service import KnowledgeService

CHANGED_FIELDS = ("content", "title", "tags", "questions")


@click.command("scan")
@click.option("--mask", is_flag=True, help="Replace the secrets by asterisks, in the notes that you may change.")
@AS_JSON
def scan_notes(*, mask: bool, as_json: bool) -> None:
    """List stored notes that seem to have secrets, or text that addresses an assistant: kind and line, never the value.

    Notes that were saved before Chie screened them are found too. The exit code is 1 if secrets are left.
    """
    with open_service() as service:
        found = list(scan(all_notes(service)))
        masked = {one.note.id for one in found if one.secrets and _mask(service, one.note)} if mask else set[str]()
    if as_json:
        print_json([_fields(one, masked) for one in found])
    else:
        for one in found:
            _show(one, masked)
        if not found:
            click.echo("No note seems to have secrets, or text that addresses an assistant.")
    left = [one for one in found if one.secrets and one.note.id not in masked]
    if left and not mask and not as_json:
        click.echo("`chie notes scan --mask` masks the secrets. A secret that was stored should also be replaced.")
    raise SystemExit(1 if left else 0)


def _mask(service: KnowledgeService, stored: Note) -> bool:
    """Whether no secret is left: others' notes, and sources, are not changed. Earlier versions keep the secrets."""
    note = screened(stored, "mask")
    changes: dict[str, Any] = {name: getattr(note, name) for name in CHANGED_FIELDS}
    try:
        service.update(stored.id, **changes, errors=note.signatures, seen=stored.updated_at, by="person")
    except ForbiddenError:
        return False
    return not secrets_in(service.get(stored.id))


def _show(found: Suspicion, masked: set[str]) -> None:
    click.echo(f"{found.note.id}  {found.note.title}{'  (masked)' if found.note.id in masked else ''}")
    for secret in found.secrets:
        click.echo(f"      {secret}")
    for flag in found.flags:
        click.echo(f"      addresses an assistant ({flag.kind}) in line {flag.line}")


def _fields(found: Suspicion, masked: set[str]) -> dict[str, Any]:
    return {
        "id": found.note.id,
        "title": found.note.title,
        "secrets": list(map(str, found.secrets)),
        "flags": found.flags,
        "masked": found.note.id in masked,
    }
