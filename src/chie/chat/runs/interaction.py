"""What a server does while its tool runs, as events of the run; questions wait for the user."""

import asyncio
import json
from time import perf_counter
from typing import Any

from chie.chat.events import Elicitation, ElicitationEnd, ToolLog, ToolPreview, ToolProgress
from chie.chat.interaction import CANCELLED, Answer
from chie.chat.runs.run import Run
from chie.unicode import clean_json

ANSWER_TIMEOUT_SECONDS = 3_600.0


class RunInteraction:
    def __init__(self, run: Run) -> None:
        self._run = run

    def report(self, event: ToolProgress | ToolLog | ToolPreview) -> None:
        self._add({**event})

    async def ask(self, question: Elicitation) -> Answer:
        """Waits as long as for an approval. Waiting for the user is not the tool's time."""
        self._add({**question})
        began, answer = perf_counter(), CANCELLED
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                answer = await self._run.answer_to(question["id"])
        except TimeoutError:
            pass
        if question["call_id"] in self._run.tool_started:
            self._run.tool_started[question["call_id"]] += perf_counter() - began
        self._add({**ElicitationEnd(type="elicitation_end", id=question["id"], action=answer["action"])})
        return answer

    def _add(self, event: dict[str, Any]) -> None:
        """JSON has no NaN or infinity, and the database takes no NUL."""
        self._run.add(clean_json(json.loads(json.dumps(event), parse_constant=lambda _: None)))
