"""Makes a conversation fit into a model's context: old tool results are shortened first, then the oldest turns are
left out. What is left out stays in the session; only the model does not read it again.
"""

from collections.abc import Sequence
from dataclasses import replace

from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage

KEPT_CHARACTERS = 400  # of a result that was shortened
OUTPUT_SHARE = 0.35  # of the context, for the answer, the system prompt and the tools
IMAGE_TOKENS = 1_600  # of a picture as large as the page sends it
ASCII_PER_TOKEN = 3.0  # cautious: code and numbers need more tokens than prose
LEFT_OUT = "(Earlier messages of this conversation were left out, because it is too long.)"


def fitted(messages: Sequence[ChatMessage], tokens: int) -> list[ChatMessage]:
    """The conversation in about this many tokens, as far as the newest question and what followed it allow."""
    newest = max(position for position, message in enumerate(messages) if isinstance(message, UserMessage))
    fit = list(messages)
    for position in (*range(newest), *range(newest, len(fit))):
        if size(fit) <= tokens:
            return fit
        if isinstance(message := fit[position], ToolMessage):
            fit[position] = ToolMessage(tuple(map(_shortened, message.results)))
    questions = [position for position, message in enumerate(fit) if isinstance(message, UserMessage)]
    while size(fit) > tokens and len(questions) > 1:
        fit = fit[questions[1] :]
        questions = [position - questions[1] for position in questions[1:]]
    first = fit[0]
    if len(fit) < len(messages) and isinstance(first, UserMessage):
        fit[0] = replace(first, content=f"{LEFT_OUT}\n\n{first.content}")
    return fit


def budget(context: int) -> int:
    """The tokens of a model's context that a conversation may have."""
    return int(context * (1 - OUTPUT_SHARE))


def size(messages: Sequence[ChatMessage]) -> int:
    """In tokens, estimated: no tokenizer is at hand, and every model has its own."""
    return sum(map(_size, messages))


def _size(message: ChatMessage) -> int:
    images = 0
    match message:
        case UserMessage(content, seen):
            texts, images = [content], IMAGE_TOKENS * len(seen)
        case AssistantMessage(content, calls):
            texts = [content, *(f"{call.name}{call.arguments}" for call in calls)]
        case ToolMessage(results):
            texts = [result.content for result in results]
    return images + sum(4 + tokens(text) for text in texts)


def tokens(text: str) -> int:
    ascii_letters = len(text.encode("ascii", "ignore"))
    return int(ascii_letters / ASCII_PER_TOKEN) + len(text) - ascii_letters + 1


def _shortened(result: CallResult) -> CallResult:
    rest = len(result.content) - KEPT_CHARACTERS
    if rest <= 0:
        return result
    return replace(result, content=f"{result.content[:KEPT_CHARACTERS]}\n(… {rest} more characters were left out.)")
