"""Turns the requests that some work made into records, with what they cost at the price of today."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from chie.access.identity import current_user
from chie.chat.agents.base import BaseAgent
from chie.chat.events import Usage, counted_usage, token_count, total_usage
from chie.chat.metering import Meter, ModelRequest, metering
from chie.chat.metrics import Metrics
from chie.chat.sessions.entities import now
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import NANO, UsageEntry, UsageRecord
from chie.chat.usage.prices import UNKNOWN, PriceTable
from chie.errors import ChieError

logger = logging.getLogger(__name__)


@dataclass
class Work(Meter):
    """Something that an agent does for a user. `reported` is the usage that an agent of a plug-in reports itself."""

    reported: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """`usage` is the sum of the record, with models and cost; None if no model was asked."""

    record: UsageRecord = field(default_factory=UsageRecord)
    usage: Usage | None = None


class UsageRecorder:
    def __init__(self, store: UsageStore, prices: PriceTable, metrics: Metrics) -> None:
        self._store = store
        self._prices = prices
        self._metrics = metrics

    def measure(self, work: Work, agent: BaseAgent) -> Measured:
        """For an answer, whose record is written together with it. Counts the metrics."""
        requests = work.requests or _reported(work.reported, agent)
        entries = [self._entry(request, agent.agent_id) for request in requests]
        self._metrics.models_used(entries)
        return Measured(record=UsageRecord(entries=entries), usage=_sum(requests, entries))

    @asynccontextmanager
    async def recording(self, agent: BaseAgent) -> AsyncGenerator[Work, None]:
        """Records what is done within, also if it fails. A record that cannot be written does not fail the work."""
        work = Work()
        try:
            with metering(work):
                yield work
        finally:
            record = self.measure(work, agent).record
            try:
                if record.entries:
                    await self._store.record(record)
            except ChieError as error:
                logger.exception("cannot record the usage of agent %s [%s]", agent.agent_id, error.code)

    def _entry(self, request: ModelRequest, agent_id: str) -> UsageEntry:
        price, usage = self._prices.price(request), request.usage
        return UsageEntry(
            day=f"{now():%Y-%m-%d}",
            user_id=current_user().id,
            agent_id=agent_id,
            model=request.model,
            host=request.host,
            price=UNKNOWN if price is None else str(price),
            estimated_requests=1 if usage.get("estimated") else 0,
            input_tokens=usage["input_tokens"],
            cached_tokens=usage.get("cached_tokens", 0),
            cache_write_tokens=usage.get("cache_write_tokens", 0),
            output_tokens=usage["output_tokens"],
            reasoning_tokens=usage.get("reasoning_tokens", 0),
            cost=None if price is None else price.cost(usage),
        )


def _reported(usage: Usage | None, agent: BaseAgent) -> list[ModelRequest]:
    """The request of an agent that asks its model itself. Plug-ins are written by others: check every field."""
    if not isinstance(usage, dict):
        return []
    names = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
    given, made, cached, written, reasoning = (token_count(usage.get(name)) for name in names)
    models = usage.get("models")
    named = str(models[0]) if isinstance(models, list) and models else getattr(agent, "model_name", None)
    counted = counted_usage(given, made, cached, written=written, reasoning=reasoning)
    return [ModelRequest(model=named or UNKNOWN, host="", is_local=False, usage=counted)]


def _sum(requests: Sequence[ModelRequest], entries: Sequence[UsageEntry]) -> Usage | None:
    total: Usage | None = None
    for request in requests:
        total = total_usage(total, request.usage)
    if total is None:
        return None
    costs = [entry.cost for entry in entries]
    total = {**total}
    models = sorted({request.model for request in requests} - {UNKNOWN})
    if models:
        total["models"] = models
    if None not in costs:
        total["cost"] = sum(cost for cost in costs if cost is not None) / NANO
    return total
