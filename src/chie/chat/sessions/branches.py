"""The tree of a session's messages: from any of them one way leads back to the beginning."""

from collections.abc import Iterable, Sequence

from chie.chat.agents.base import Turn
from chie.chat.sessions.entities import Message

UNANSWERED = "(This answer failed before it began.)"  # models ask for an answer between two questions


def branch(messages: Iterable[Message], tip: str | None) -> list[Message]:
    """From the first message to `tip`."""
    by_id = {message.message_id: message for message in messages}
    way: list[Message] = []
    while tip is not None:
        way.append(by_id[tip])
        tip = way[-1].parent_id
    return way[::-1]


def newest_branch(messages: Sequence[Message]) -> list[Message]:
    return branch(messages, messages[-1].message_id if messages else None)


def history(messages: Iterable[Message], tip: str | None) -> list[Turn]:
    """What an agent is told of the conversation so far."""
    return [
        Turn(role=message.role, content=message.content or UNANSWERED)
        for message in branch(messages, tip)
        if message.content or message.role == "assistant"
    ]
