"""Reading an answer: from memory while it is written here, from disk otherwise. A reader is only a place in it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from time import monotonic

from chie.chat.runs.run import Run
from chie.chat.sessions.answer import Item
from chie.chat.sessions.entities import Events, Message
from chie.chat.sessions.turns import Turns
from chie.errors import StorageError

HEARTBEAT_SECONDS = 15.0
RETRIES = (0.1, 0.5, 2.0, 5.0, 10.0, 10.0)  # a database that restarts shall not cost a reader the connection

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events in a row, the first of them numbered `first`; none at all is a heartbeat."""

    first: int
    items: Sequence[Item]


SILENCE = Batch(0, ())


async def read_live(run: Run, turns: Turns, after: int) -> AsyncGenerator[Batch, None]:
    while True:
        if after < run.base:
            _, stretches = await _events(turns, run.message_id, after)
            for stretch in stretches:
                yield Batch(after + 1, stretch.items[after + 1 - stretch.first :])
                after = stretch.last
        elif items := run.after(after):
            yield Batch(after + 1, items)
            after += len(items)
        elif run.ended:
            return
        elif not await run.news():
            yield SILENCE


async def read_stored(turns: Turns, message_id: str, after: int) -> AsyncGenerator[Batch, None]:
    """What is on disk; where another process still writes, its progress as it is saved."""
    last_word = monotonic()
    with turns.bell.listening(message_id) as ring:
        while True:
            answer, stretches = await _events(turns, message_id, after)
            for stretch in stretches:
                start = max(after + 1, stretch.first)
                yield Batch(start, stretch.items[start - stretch.first :])
                after = stretch.last
            if stretches:
                last_word = monotonic()
            elif answer.status != "streaming":
                return
            else:
                await ring.heard()
            if monotonic() - last_word >= HEARTBEAT_SECONDS:
                last_word = monotonic()
                yield SILENCE


async def _events(turns: Turns, message_id: str, after: int) -> tuple[Message, list[Events]]:
    for pause in RETRIES:
        try:
            return await turns.events(message_id, after)
        except StorageError:
            logger.warning("message %s cannot be read; the next try follows", message_id)
            await asyncio.sleep(pause)
    return await turns.events(message_id, after)
