"""MCP completion of arguments: tags in prompts, and ids in the URI of a note."""

import logging
import re
from collections.abc import Iterable

from mcp_types import CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from chie.errors import ChieError
from chie.knowledge.note import NOTE_URI
from chie.knowledge.prompts import QUERY_PROMPT, SAVE_PROMPT
from chie.knowledge.service import KnowledgeService
from chie.knowledge.validation import MAX_LIMIT, MAX_QUERY
from chie.mcp_kit.server import Server
from chie.unicode import fold

logger = logging.getLogger(__name__)

Reference = PromptReference | ResourceTemplateReference

_SEPARATED = re.compile(r"[,、，]\s*")


def declare_completion(server: Server, service: KnowledgeService) -> None:
    def complete(reference: Reference, argument: CompletionArgument, _: CompletionContext | None) -> list[str] | None:
        """Completion is optional: after an error nothing is offered."""
        try:
            return _candidates(service, reference, argument)
        except ChieError as error:
            logger.warning("completion is not available: %s (%s)", error.message, error.code)
        except Exception:
            logger.exception("completion failed")
        return None

    server.completion(complete)


def _candidates(service: KnowledgeService, reference: Reference, argument: CompletionArgument) -> list[str] | None:
    if len(argument.value) > MAX_QUERY:  # not typed by a person
        return None
    name = reference.name if isinstance(reference, PromptReference) else reference.uri
    match name, argument.name:
        case (str(prompt), "tag") if prompt == QUERY_PROMPT:
            return _matching(argument.value, _tags(service))
        case (str(prompt), "tags") if prompt == SAVE_PROMPT:
            return _next_tag(argument.value, _tags(service))
        case (str(template), "id") if template == NOTE_URI:
            return _ids(service, argument.value)
    return None


def _tags(service: KnowledgeService) -> list[str]:
    return [count.tag for count in service.tags()]


def _next_tag(typed: str, tags: Iterable[str]) -> list[str]:
    """Complete the last tag of a list; tags that it has already are not offered."""
    cut = max((found.end() for found in _SEPARATED.finditer(typed)), default=0)
    before, last = typed[:cut], typed[cut:]
    given = {_folded(tag) for tag in _SEPARATED.split(before)}
    return [f"{before}{tag}" for tag in _matching(last, tags) if _folded(tag) not in given]


def _ids(service: KnowledgeService, typed: str) -> list[str]:
    """Of the newest notes, those whose id has the prefix, then those whose title has the text."""
    notes = service.browse(limit=MAX_LIMIT).notes
    by_id = [note.id for note in notes if note.id.startswith(typed.strip())]
    words = _folded(typed)
    by_title = [note.id for note in notes if words in _folded(note.title)]
    return list(dict.fromkeys([*by_id, *by_title]))


def _matching(typed: str, tags: Iterable[str]) -> list[str]:
    """Tags with the prefix, then tags that contain it, each in the order given."""
    start = _folded(typed).removeprefix("#")
    ranked = [(not _folded(tag).startswith(start), tag) for tag in tags if start in _folded(tag)]
    return [tag for _, tag in sorted(ranked, key=lambda pair: pair[0])]


def _folded(text: str) -> str:
    return fold(text).strip()
