"""Answers that another process writes: it is asked through the database, and does what is asked."""

from collections.abc import Awaitable, Callable
from time import monotonic

from chie.chat.runs.command_queue import Orders
from chie.chat.runs.recovery import Recovery
from chie.chat.sessions.entities import Message
from chie.chat.sessions.turns import Turns
from chie.errors import ConflictError

REACTION_SECONDS = 5.0

DEAF = (
    "the Chie process that writes this answer does not react, so nothing was decided. "
    "Try again in a moment, or stop the answer."
)
UNSURE = (
    "the Chie process that writes this answer took your word and did not confirm it. "
    "Follow the answer to see what happens, or stop it."
)


class Elsewhere:
    def __init__(self, turns: Turns, orders: Orders, recovery: Recovery) -> None:
        self._turns = turns
        self._orders = orders
        self._recovery = recovery

    async def stop(self, message_id: str) -> Message:
        """A writer that does not react loses the answer: stopping works as long as the database does."""
        order_id = await self._orders.give(message_id, "stop")
        if order_id is not None:
            await self._until(message_id, lambda: self._ended(message_id))
            if await self._orders.withdraw(order_id):
                await self._recovery.stop(message_id)
        return await self._turns.answer(message_id)

    async def decide(self, message_id: str, call_id: str, *, approved: bool) -> None:
        order_id = await self._orders.give(message_id, "approve" if approved else "refuse", call_id)
        if order_id is None:
            raise over(await self._turns.answer(message_id))
        withdrawn = True
        try:
            if await self._until(message_id, lambda: self._orders.is_done(order_id)):
                return
        finally:
            withdrawn = await self._orders.withdraw(order_id)
        if await self._ended(message_id):
            raise over(await self._turns.answer(message_id))
        raise ConflictError(DEAF if withdrawn else UNSURE)

    async def _until(self, message_id: str, reached: Callable[[], Awaitable[bool]]) -> bool:
        """Whether it came to that in time."""
        until = monotonic() + REACTION_SECONDS
        with self._turns.bell.listening(message_id) as ring:
            while not (there := await reached()) and (left := until - monotonic()) > 0:
                await ring.heard(left)
        return there

    async def _ended(self, message_id: str) -> bool:
        return (await self._turns.answer(message_id)).status != "streaming"


def over(answer: Message) -> ConflictError:
    return ConflictError(f"this answer has ended ({answer.status}): there is nothing left to approve.")
