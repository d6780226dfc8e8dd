"""A session's messages form a tree; a branch is the path from the first message to one of them."""

from collections.abc import Iterable, Sequence

from chie.chat.sessions.entities import Message


def branch(messages: Iterable[Message], tip: str | None) -> list[Message]:
    """From the first message to `tip`, inclusive."""
    by_id = {message.message_id: message for message in messages}
    path: list[Message] = []
    while tip is not None:
        path.append(by_id[tip])
        tip = path[-1].parent_id
    return path[::-1]


def newest_branch(messages: Sequence[Message]) -> list[Message]:
    return branch(messages, messages[-1].message_id if messages else None)
