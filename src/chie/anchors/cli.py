"""`chie notes touched`: which notes are about code of this repository that has changed."""

import json
import os
import sys
from typing import Any

import click

from chie.anchors.client import Refused, Server, checked
from chie.anchors.git import GitError, Repository
from chie.errors import ServiceError, ValidationError
from chie.hook.http import ResponseError
from chie.hook.login import find_login
from chie.messages.catalogue import Message

TIMEOUT_SECONDS = 30.0
DETAILS = {
    "commit_unknown": Message("anchors.detail_commit_unknown"),
    "deleted": Message("anchors.detail_deleted"),
    "duplicated": Message("anchors.detail_duplicated"),
    "file_deleted": Message("anchors.detail_file_deleted"),
    "moved": Message("anchors.detail_moved"),
    "not_in_commit": Message("anchors.detail_not_in_commit"),
    "same": Message("anchors.detail_same"),
    "unsure": Message("anchors.detail_unsure"),
    "whitespace": Message("anchors.detail_whitespace"),
}
COLOURS = {"fresh": "green", "changed": "yellow", "gone": "red", "unknown": None}


@click.command()
@click.option("--since", metavar="COMMIT", help="Only notes whose code is another, or elsewhere, than in this commit.")
@click.option("--head", default="HEAD", show_default=True, metavar="COMMIT", help="The commit to compare with.")
@click.option("--repository", "folder", default=".", type=click.Path(exists=True, file_okay=False), help="Its folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--fail", is_flag=True, help="Exit with 1 if the code of a listed note has changed or is gone.")
@click.option("--dry-run", is_flag=True, help="Do not tell the server.")
def touched(since: str | None, head: str, folder: str, *, as_json: bool, fail: bool, dry_run: bool) -> None:
    """List notes about code of this Git repository that has changed since they were written, and tell the server.

    Asks the Chie at CHIE_URL, with the token in CHIE_TOKEN, or the one that `chie connect` has stored. Without
    --since, lists every note whose code is not proved to be the same.
    """
    try:
        found = _found(folder, since, head, dry_run=dry_run)
    except GitError as error:
        raise ServiceError("anchors.git_failed") from error
    listed = [one for one in found if one["listed"]]
    if as_json:
        click.echo(json.dumps([{k: v for k, v in one.items() if k != "listed"} for one in listed], indent=2))
    else:
        _print(listed, len(found))
    if fail and any(one["state"] in ("changed", "gone") for one in listed):
        sys.exit(1)


def _found(folder: str, since: str | None, head: str, *, dry_run: bool) -> list[dict[str, Any]]:
    opened = Repository.around(folder)
    if opened is None:
        raise ValidationError("anchors.no_repository")
    with opened as repository:
        commit, begin = _commit(repository, head), _commit(repository, since) if since else None
        url, token = find_login(os.environ)
        server = Server(url, token, TIMEOUT_SECONDS)
        try:
            notes = [note for name in repository.names() for note in server.anchored(name)]
            results = checked(repository, commit, notes)
            if results and not dry_run:
                server.report(commit, repository.committed_at(commit), results)
        except Refused as error:
            raise ServiceError("anchors.refused", url=url, status=error.status, detail=error.detail) from error
        except (OSError, ResponseError) as error:
            raise ServiceError("anchors.unreachable", url=url) from error
        earlier = checked(repository, begin, notes) if begin else [{"state": "fresh"}] * len(results)
    return [
        {**after, "title": note["title"], "listed": _differs(before, after, since=begin is not None)}
        for note, before, after in zip(notes, earlier, results, strict=True)
    ]


def _commit(repository: Repository, name: str) -> str:
    found = repository.commit(name)
    if found is None:
        raise ValidationError("anchors.commit_not_found", commit=name)
    return found


def _differs(before: dict[str, Any], after: dict[str, Any], *, since: bool) -> bool:
    if not since:
        return bool(after["state"] != "fresh")
    keys = ("state", "changed", "path", "lines", "fingerprint")
    return any(before.get(key) != after.get(key) for key in keys)


def _print(listed: list[dict[str, Any]], total: int) -> None:
    for one in listed:
        state = click.style(f"{one['state']:<8}", fg=COLOURS[one["state"]])
        click.echo(f"{state} {one['id']}  {click.style(one['title'], bold=True)}")
        click.echo(f"         {_place(one['anchor'])}  {_explained(one)}")
    others = total - len(listed)
    click.echo(
        f"{len(listed)} of {total} notes about this repository listed."
        if listed or others
        else "No notes are anchored to this repository."
    )


def _place(anchor: dict[str, Any]) -> str:
    lines = f":{anchor['lines']}" if anchor.get("lines") else ""
    return f"{anchor['path']}{lines}" + (f"@{anchor['commit'][:10]}" if anchor.get("commit") else "")


def _explained(one: dict[str, Any]) -> str:
    changed = one.get("changed") or 0
    percent = max(round(changed * 100), 1)
    text = str(DETAILS.get(one["detail"]) or Message("anchors.detail_edited", percent=percent))
    there = one.get("path") and (one["path"], one.get("lines")) != (one["anchor"]["path"], one["anchor"].get("lines"))
    return f"{text} → {_place({'path': one['path'], 'lines': one.get('lines')})}" if there else text
