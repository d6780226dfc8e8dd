"""`chie notes review`: the review in a terminal, or as JSON."""

import sys
from dataclasses import asdict

import click

from chie.access.known_users import known_users
from chie.errors import ChieError
from chie.knowledge.cli.shared import open_service, print_json
from chie.knowledge.review.findings import Action, Finding, Kind
from chie.knowledge.review.review import ACTIONS, Merged, Review, ReviewPage
from chie.knowledge.settings import KnowledgeSettings
from chie.settings import load

SLICE_SECONDS = 2.0
KEYS: dict[str, Action] = {"k": "keep", "m": "merge", "r": "supersede", "a": "archive", "n": "dismiss"}
LABELS: dict[Action, str] = {
    "keep": "[k]eep",
    "merge": "[m]erge",
    "supersede": "[r]eplace the older one",
    "archive": "[a]rchive the older one",
    "dismiss": "[n]o problem",
}


def run_review(kind: Kind | None, limit: int, *, as_json: bool) -> None:
    with open_service() as service:
        months = load(KnowledgeSettings).review_stale_months
        review = Review(service, stale_months=months, known_users=known_users)
        page = _complete(review, kind, limit)
        if as_json:
            return print_json(asdict(page))
        if not page.findings:
            return click.echo("Nothing to review.")
        if not is_terminal():
            return _list(page)
        return _ask(review, page.findings)


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _complete(review: Review, kind: Kind | None, limit: int) -> ReviewPage:
    """Compares everything that is new, with a progress bar on stderr."""
    page = review.page(kind=kind, limit=limit, seconds=SLICE_SECONDS)
    if not page.pending:
        return page
    with click.progressbar(length=page.pending, label="Comparing notes", file=sys.stderr) as bar:
        while page.pending:
            left = page.pending
            page = review.page(kind=kind, limit=limit, seconds=SLICE_SECONDS)
            bar.update(left - page.pending)
    return page


def _list(page: ReviewPage) -> None:
    for finding in page.findings:
        click.echo(f"{finding.kind}: {reason(finding)}")
        for note in finding.notes:
            click.echo(f"    {note.id}  {note.updated_at:%Y-%m-%d}  {note.title}")
    total = sum(page.counts.values())
    click.echo(f"{total} to review. Run `chie notes review` in a terminal to decide, or open #/review on the page.")


def _ask(review: Review, findings: list[Finding]) -> None:
    last: str | None = None
    position = 0
    while position < len(findings):
        finding = findings[position]
        _show(finding, position + 1, len(findings))
        key = _key(finding, undo=last is not None)
        if key == "q":
            return
        if key == "u" and last:
            review.undo(last)
            last, position = None, max(position - 1, 0)
            continue
        if key == "s":
            position += 1
            continue
        try:
            decided = _decide(review, finding, KEYS[key])
        except ChieError as error:
            click.secho(error.message, fg="red", err=True)
            continue
        if decided:
            last, position = decided, position + 1
    click.echo("Done.")


def _decide(review: Review, finding: Finding, action: Action) -> str | None:
    merged = None
    if action == "merge":
        older, newer = finding.notes
        edited = click.edit(f"{newer.content.rstrip()}\n\n{older.content.rstrip()}\n", extension=".md")
        if edited is None:
            return None
        merged = Merged(content=edited)
    seen = {note.id: note.updated_at for note in finding.notes}
    return review.decide(finding.id, action, merged=merged, seen=seen).id


def _show(finding: Finding, number: int, total: int) -> None:
    click.echo()
    click.secho(f"[{number}/{total}] {finding.kind}: {reason(finding)}", bold=True)
    for note in finding.notes:
        click.secho(f"\n{note.title}", fg="cyan")
        click.echo(f"{note.id} · {note.user_id} · {note.updated_at:%Y-%m-%d}\n{note.content}")


def _key(finding: Finding, *, undo: bool) -> str:
    actions = ACTIONS[finding.kind]
    choices = [key for key, action in KEYS.items() if action in actions]
    labels = [LABELS[KEYS[key]] for key in choices] + ["[s]kip", *(["[u]ndo"] if undo else []), "[q]uit"]
    click.echo("\n" + "  ".join(labels))
    allowed = [*choices, "s", *("u" if undo else ""), "q"]
    while (key := click.getchar().lower()) not in allowed:
        pass
    return key


def reason(finding: Finding) -> str:
    params = finding.reason.params
    if finding.reason.code in ("number", "version", "name"):
        return f"{params['here']} here, {params['there']} there"
    texts = {
        "negation": f"“{params.get('here')}” and “{params.get('there')}”",
        "statement": f"“{params.get('here')}” and “{params.get('there')}”",
        "same": "both notes say the same",
        "stale": f"not changed, confirmed, shown or opened since {params.get('since')}",
        "code_changed": f"the code in {params.get('path')} changed since ({params.get('percent')} %)",
        "code_gone": f"the code in {params.get('path')} is gone",
        "orphaned": f"its author {params.get('author')} is no user any more",
        "unanswered": f"{params.get('query')} ({params.get('count')} times, last on {params.get('last')})",
    }
    return texts[finding.reason.code]
