"""Makes a conversation fit into a model's context: old tool results are shortened first, then the oldest turns are
left out. What is left out stays in the session; only the model does not read it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chie.chat.models.messages import AssistantMessage, CallResult, ChatMessage, ToolMessage, UserMessage

KEPT_CHARACTERS = 400  # of a result that was shortened
OUTPUT_SHARE = 0.25  # of the context, for the answer
MAX_OUTPUT_TOKENS = 8_192
LEAST_TOKENS = 256  # of a conversation, however many tools there are
IMAGE_TOKENS = 1_600  # of a picture as large as the page sends it
ASCII_PER_TOKEN = 3.0  # cautious: code and numbers need more tokens than prose
LEFT_OUT = "(Earlier messages of this conversation were left out, because it is too long.)"
SUMMARISED = "(A summary of the earlier messages of this conversation, which you do not read again:)"
READ_TOOL = "read_earlier_result"


@dataclass(frozen=True)
class Summary:
    """Stands for the first `questions` of a conversation and their answers; without text they were left out."""

    questions: int
    text: str


def fitted(messages: Sequence[ChatMessage], tokens: int, *, readable: bool = False) -> list[ChatMessage]:
    """The conversation in about this many tokens, as far as the newest question and what followed it allow. With
    `readable` the model is told how it reads a result that was shortened."""
    fit = shortened(messages, tokens, readable=readable)
    questions = question_positions(fit)
    first = next((number for number, at in enumerate(questions) if size(fit[at:]) <= tokens), len(questions) - 1)
    return summarised(fit, Summary(first, "")) if first else fit


def shortened(messages: Sequence[ChatMessage], tokens: int, *, readable: bool = False) -> list[ChatMessage]:
    """With as many results shortened as it takes, the oldest first; those of the last round as little as possible."""
    fit = list(messages)
    rounds = [position for position, message in enumerate(fit) if isinstance(message, ToolMessage)]
    total = size(fit)
    for position in rounds:
        message = fit[position]
        if total <= tokens or not isinstance(message, ToolMessage):
            break
        rest = total - _size(message)
        kept = (tokens - rest) // len(message.results) if position == rounds[-1] else 0
        fit[position] = ToolMessage(tuple(_shortened(one, kept, readable=readable) for one in message.results))
        total = rest + _size(fit[position])
    return fit


def summarised(messages: Sequence[ChatMessage], summary: Summary) -> list[ChatMessage]:
    """With the summary before the first question that it does not cover."""
    questions = question_positions(messages)
    at = questions[summary.questions] if summary.questions < len(questions) else 0
    first = messages[at]
    if at == 0 or not isinstance(first, UserMessage):
        return list(messages)
    before = f"{SUMMARISED}\n{summary.text}\n{_readable_calls(messages[:at])}" if summary.text else LEFT_OUT
    return [replace(first, content=f"{before.rstrip()}\n\n{first.content}"), *messages[at + 1 :]]


def question_positions(messages: Sequence[ChatMessage]) -> list[int]:
    return [position for position, message in enumerate(messages) if isinstance(message, UserMessage)]


def covered(messages: Sequence[ChatMessage], tokens: int) -> int:
    """How many questions, from the first, a summary must cover so that the others have at most this many tokens."""
    short = shortened(messages, 0)
    questions = question_positions(short)
    return next((number for number, at in enumerate(questions) if size(short[at:]) <= tokens), len(questions) - 1)


def budget(context: int, *, scale: float = 1.0, overhead: int = 0) -> int:
    """The tokens, as estimated here, of a conversation beside `overhead` tokens of instructions and tools. The model
    counts `scale` tokens for each of ours."""
    kept = min(context * OUTPUT_SHARE, MAX_OUTPUT_TOKENS)
    return max(LEAST_TOKENS, int((context - kept) / scale) - overhead)


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
    return images + sum(4 + text_tokens(text) for text in texts)


def text_tokens(text: str) -> int:
    ascii_letters = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return int(ascii_letters / ASCII_PER_TOKEN) + len(text) - ascii_letters + 1


def cut(text: str, tokens: int) -> str:
    """The beginning of the text."""
    if text_tokens(text) <= tokens:
        return text
    length = min(len(text), int(tokens * ASCII_PER_TOKEN))
    while length and text_tokens(text[:length]) > tokens:
        length = length * 9 // 10
    return text[:length]


def _shortened(result: CallResult, tokens: int, *, readable: bool) -> CallResult:
    kept = max(KEPT_CHARACTERS, len(cut(result.content, max(tokens - 60, 0))))
    rest = len(result.content) - kept
    if rest <= 0:
        return result
    how = f" {READ_TOOL} returns them for the id {result.id}." if readable else ""
    return replace(result, content=f"{result.content[:kept]}\n(… {rest} more characters were left out.{how})")


def _readable_calls(messages: Sequence[ChatMessage]) -> str:
    """The last calls that a summary stands for, so that the model can read their results."""
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.calls][-20:]
    if not calls:
        return ""
    return f"(Tool results in that part, by id: {', '.join(f'{call.id} ({call.name})' for call in calls)})"
