"""Does what other processes ask of the answers that this one writes."""

import logging
from collections.abc import Mapping

from chie.chat.runs.command_queue import Order, Orders
from chie.chat.runs.run import Run
from chie.errors import ChieError, ConflictError

logger = logging.getLogger(__name__)


class Servant:
    def __init__(self, orders: Orders, runs: Mapping[str, Run]) -> None:
        self._orders = orders
        self._runs = runs
        self._looked = False

    def note(self, *, asked: bool) -> None:
        """Whoever saves sees on the way whether there are orders, and spares us the look."""
        self._looked = not asked
        if asked:
            self._orders.bell.ring([self._orders.us])

    async def obey(self) -> None:
        """While anybody answers here."""
        with self._orders.bell.listening(self._orders.us) as ring:
            while self._runs:
                rung = await ring.heard()
                if rung or not self._looked:
                    await self._serve()
                self._looked = False

    async def _serve(self) -> None:
        try:
            for order in await self._orders.take(list(self._runs)):
                await self._orders.reply(order, self._carry_out(order))
        except ChieError:
            logger.exception("what other processes ask of our answers cannot be read; the next try follows")

    def _carry_out(self, order: Order) -> ChieError | None:
        run = self._runs.get(order.message_id)
        try:
            if run is None:
                raise ConflictError("this answer has just ended: there is nothing left to approve.")
            if order.wish == "stop":
                run.stop()
            else:
                run.decide(order.call_id or "", approved=order.wish == "approve")
        except ChieError as error:
            return error
        return None
