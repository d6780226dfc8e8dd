"""`chie notes enrich`: the connected chat model writes questions for notes. Here, because it uses two modules."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from chie.errors import ForbiddenError, ServiceError
from chie.knowledge.cli.notes import notes
from chie.knowledge.cli.shared import open_service
from chie.knowledge.rules import require_permission
from chie.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chie.chat.agents.model_agent import ModelAgent
    from chie.knowledge.note import Note
    from chie.knowledge.service import KnowledgeService

TOKENS_PER_CHARACTER = 0.5  # between English (0.25) and Japanese (about 1)
TOKENS_PER_REQUEST = 300  # the instructions and the answer
PAGE = 100


@notes.command()
@click.option("--limit", type=click.IntRange(1), help="At most this many notes.")
@click.option("--yes", is_flag=True, help="Start without asking.")
def enrich(limit: int | None, *, yes: bool) -> None:
    """Let the connected chat model write questions for your notes that have none.

    The notes are sent to that model. The command can be interrupted and run again: it continues where it stopped.
    """
    with open_service() as service:
        found = [note for _, note in zip(range(limit or sys.maxsize), _without_questions(service), strict=False)]
        if not found:
            click.echo("All your notes have questions.")
            return
        tokens = sum(len(note.content) * TOKENS_PER_CHARACTER + TOKENS_PER_REQUEST for note in found)
        click.echo(f"{len(found)} notes without questions, about {round(tokens, -2):,.0f} tokens.")
        if not yes:
            click.confirm("Send them to the connected chat model?", abort=True)
        done = asyncio.run(_enrich(service, found))
    click.echo(f"{done} notes have questions now.")
    if done < len(found):
        click.echo(f"The model wrote none for {len(found) - done}. Run this again to try them again.", err=True)


def _without_questions(service: "KnowledgeService") -> "Iterator[Note]":
    """Notes that the user may change."""
    cursor = None
    while True:
        page = service.browse(limit=PAGE, cursor=cursor)
        for heading in page.notes:
            note = service.get(heading.id)
            if not note.questions and _may_change(service, note):
                yield note
        cursor = page.next_cursor
        if cursor is None:
            return


def _may_change(service: "KnowledgeService", note: "Note") -> bool:
    try:
        require_permission(note, service.viewer())
    except ForbiddenError:
        return False
    return True


async def _enrich(service: "KnowledgeService", found: "list[Note]") -> int:
    agent = await _agent()
    done = 0
    try:
        with click.progressbar(found, label="Writing questions", file=sys.stderr) as bar:
            for note in bar:
                try:
                    questions = await agent.suggest_questions(title=note.title, content=note.content)
                except ServiceError as error:
                    if error.code != "agents.no_questions":
                        raise
                    continue
                service.update(note.id, questions=questions)
                done += 1
    finally:
        await agent.close()
    return done


async def _agent() -> "ModelAgent":
    """The default model, or Bedrock's if that one is not available."""
    from chie.chat.agents.builtin import build_aws, build_default
    from chie.chat.agents.dependencies import AgentDependencies
    from chie.chat.agents.profile import Profile
    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.toolbox import Toolbox

    dependencies = AgentDependencies(load(ChatSettings), Toolbox([]), [])
    for build in (build_default, build_aws):
        agent: ModelAgent = build(Profile(id="enrich"), dependencies)
        if await agent.problem() is None:
            return agent
        await agent.close()
    raise ServiceError("agents.no_model")
