"""Names the attached file that is too large for a model, where the conversation is too long because of it alone."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from chie.chat.agents.base import Attachment
from chie.chat.agents.context_budget import budget, text_tokens
from chie.chat.events import Event
from chie.chat.models.base import ChatModel
from chie.chat.models.errors import ContextError

UNKNOWN_CONTEXT = 4_096  # of a model whose refusal names no limit: everything but the question was shortened before


async def naming_large_file(
    events: AsyncGenerator[Event, None], files: Sequence[Attachment], model: ChatModel
) -> AsyncGenerator[Event, None]:
    """The events. Asks nothing if the model's context is known to be too small."""
    async with aclosing(events):
        if error := _too_large(files, model, model.context):
            raise error
        try:
            async for event in events:
                yield event
        except ContextError as refused:
            raise _too_large(files, model, refused.limit or model.context or UNKNOWN_CONTEXT) or refused from refused


def _too_large(files: Sequence[Attachment], model: ChatModel, context: int | None) -> ContextError | None:
    sizes = {file["name"]: text_tokens(file["text"]) for file in files if "text" in file}
    if not sizes or context is None:
        return None
    name = max(sizes, key=lambda one: sizes[one])
    if sizes[name] <= budget(context):
        return None
    return ContextError(
        "attachments.too_large_for_model", limit=context, name=name, tokens=sizes[name], model=model.name or "?"
    )
