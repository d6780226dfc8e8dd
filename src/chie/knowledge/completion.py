"""Completion: tags and ids, while a person fills in a prompt or the address of a note."""

import logging
import re
from collections.abc import Iterable

from mcp_types import CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from chie.errors import ChieError
from chie.knowledge.prompts import KNOW, SAVE
from chie.knowledge.resources import NOTE
from chie.knowledge.rules import MAX_LIMIT, MAX_QUERY
from chie.knowledge.service import KnowledgeService
from chie.mcp_kit.server import Server
from chie.unicode import fold

logger = logging.getLogger(__name__)

Reference = PromptReference | ResourceTemplateReference

_SEPARATED = re.compile(r"[,、，]\s*")


def declare_completion(server: Server, service: KnowledgeService) -> None:
    def complete(reference: Reference, argument: CompletionArgument, _: CompletionContext | None) -> list[str] | None:
        """A help while typing: what cannot be looked up now is simply not offered."""
        try:
            return _candidates(service, reference, argument)
        except ChieError as error:
            logger.warning("nothing to offer for completion: %s", error.message)
        except Exception:
            logger.exception("completion failed")
        return None

    server.completion(complete)


def _candidates(service: KnowledgeService, reference: Reference, argument: CompletionArgument) -> list[str] | None:
    if len(argument.value) > MAX_QUERY:  # nobody typed that
        return None
    name = reference.name if isinstance(reference, PromptReference) else reference.uri
    match name, argument.name:
        case (str(prompt), "tag") if prompt == KNOW:
            return _fitting(argument.value, _tags(service))
        case (str(prompt), "tags") if prompt == SAVE:
            return _next_tag(argument.value, _tags(service))
        case (str(template), "id") if template == NOTE:
            return _ids(service, argument.value)
    return None


def _tags(service: KnowledgeService) -> list[str]:
    return [count.tag for count in service.tags()]


def _next_tag(typed: str, tags: Iterable[str]) -> list[str]:
    """The list so far stays; only its last tag is completed, and none is offered twice."""
    cut = max((found.end() for found in _SEPARATED.finditer(typed)), default=0)
    before, last = typed[:cut], typed[cut:]
    given = {_folded(tag) for tag in _SEPARATED.split(before)}
    return [f"{before}{tag}" for tag in _fitting(last, tags) if _folded(tag) not in given]


def _ids(service: KnowledgeService, typed: str) -> list[str]:
    """Of the newest notes, those whose id begins so, and those whose title has the words."""
    notes = service.browse(limit=MAX_LIMIT).notes
    by_id = [note.id for note in notes if note.id.startswith(typed.strip())]
    words = _folded(typed)
    by_title = [note.id for note in notes if words in _folded(note.title)]
    return list(dict.fromkeys([*by_id, *by_title]))


def _fitting(typed: str, tags: Iterable[str]) -> list[str]:
    """Those that begin so, then those that have it inside, each in the order given."""
    start = _folded(typed).removeprefix("#")
    ranked = [(not _folded(tag).startswith(start), tag) for tag in tags if start in _folded(tag)]
    return [tag for _, tag in sorted(ranked, key=lambda pair: pair[0])]


def _folded(text: str) -> str:
    return fold(text).strip()
