"""`chie eval`: how well search answers one's own questions, per embedding model and setting."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from chie.access.identity import current_user
from chie.errors import ValidationError
from chie.knowledge.cli.options import AS_JSON
from chie.knowledge.cli.shared import open_service, print_json
from chie.knowledge.evaluation.candidates import CURRENT, Candidate
from chie.knowledge.evaluation.cases import Case, read_cases, recorded_cases
from chie.knowledge.evaluation.plot import plot
from chie.knowledge.evaluation.score import Score, evaluate
from chie.knowledge.markdown.folder import all_notes
from chie.knowledge.note import Note
from chie.knowledge.service import KnowledgeService
from chie.messages.catalogue import Message

COLUMNS = {"recall1": "recall@1", "recall5": "recall@5", "mrr": "MRR", "no_answer": "no answer"}
SHARE = click.FloatRange(0, 1)


@click.group(invoke_without_command=True)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Cases, one per line: {"query": "…", "note": "k-…"}, or null instead of the id. Repeatable.',
)
@click.option("--recorded", is_flag=True, help="Your recorded searches, too. Without --file they are the only ones.")
@click.option(
    "--model",
    "models",
    multiple=True,
    default=[CURRENT],
    show_default=True,
    help="`current`, `builtin`, `words`, or `name@URL` of an OpenAI-compatible server; with `,no-questions` the notes "
    "are searched without their questions. Repeatable.",
)
@click.option("--plot", "picture", type=click.Path(dir_okay=False, path_type=Path), help="Write an SVG, too.")
@click.option("--min-recall5", type=SHARE, help="Exit with 1 if recall@5 of the first model is lower.")
@AS_JSON
@click.pass_context
def evaluation(
    ctx: click.Context,
    files: tuple[Path, ...],
    models: tuple[str, ...],
    picture: Path | None,
    min_recall5: float | None,
    *,
    recorded: bool,
    as_json: bool,
) -> None:
    """Tell how well search answers your own questions, per embedding model and setting side by side.

    Replays your recorded searches (`chie eval record on`) or files of cases. Models other than `current` embed the
    notes that you see again, in a temporary file; a server given with `name@URL` receives them and the questions.
    """
    if ctx.invoked_subcommand is not None:
        return
    candidates = [Candidate.parse(model) for model in models]
    with open_service() as service:
        cases = [case for file in files for case in read_cases(file)]
        if recorded or not files:
            cases += recorded_cases(service.store.records.searches(current_user().id))
        notes = list(all_notes(service))
        cases, skipped = _with_notes(cases, notes)
        scores = [_score(candidate, service, notes, cases) for candidate in candidates]
    if picture:
        picture.write_text(plot(scores), encoding="utf-8")
    if as_json:
        print_json({"scores": [asdict(score) for score in scores], "skipped": skipped})
    else:
        _print(scores, skipped)
    if min_recall5 is not None and (scores[0].recall5 or 0.0) < min_recall5:
        raise ValidationError(
            "knowledge.eval_below",
            model=scores[0].name,
            found=f"{scores[0].recall5 or 0.0:.3f}",
            needed=f"{min_recall5:g}",
        )


eval = evaluation  # noqa: A001 - the command's name


@evaluation.command()
@click.argument("state", type=click.Choice(["on", "off", "status"]), default="status")
def record(state: str) -> None:
    """Record your searches that end in an opened or cited note, for you alone. `off` deletes them."""
    with open_service() as service:
        records, user = service.store.records, current_user().id
        if state != "status":
            records.agree(user, recording=state == "on")
        on, count = records.records_searches(user), len(records.searches(user))
    said = Message("knowledge.eval_not_recording", user=user)
    click.echo(str(Message("knowledge.eval_recording", user=user, count=count) if on else said))


def _with_notes(cases: Sequence[Case], notes: Sequence[Note]) -> tuple[list[Case], int]:
    """Cases whose note the user sees, and how many were left out."""
    known = {None, *(note.id for note in notes)}
    kept = [case for case in cases if case.note in known]
    if not kept:
        raise ValidationError("knowledge.eval_no_cases", skipped=len(cases))
    return kept, len(cases) - len(kept)


def _score(candidate: Candidate, service: KnowledgeService, notes: Sequence[Note], cases: Sequence[Case]) -> Score:
    with (
        click.progressbar(length=len(notes), label=candidate.name, file=sys.stderr) as bar,
        candidate.opened(service, notes, bar.update) as search,
    ):
        return evaluate(candidate.name, search, cases)


def _print(scores: Sequence[Score], skipped: int) -> None:
    width = max(len("model"), *(len(score.name) for score in scores))
    click.echo(f"{'model':{width}}  " + "  ".join(f"{title:>9}" for title in COLUMNS.values()))
    for score in scores:
        values = (getattr(score, name) for name in COLUMNS)
        shown = "  ".join(f"{'–' if value is None else f'{value:.3f}':>9}" for value in values)
        click.echo(f"{score.name:{width}}  {shown}")
    first = scores[0]
    click.echo(f"{first.answerable} questions with a note, {first.unanswerable} without.")
    if skipped:
        click.echo(f"{skipped} left out: you have no note with that id.")
