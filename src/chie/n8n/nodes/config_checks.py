"""Asks n8n which errors the parameters of nodes have. Answers are kept: they only change with n8n."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from chie.n8n.instance.client import InstanceClient
from chie.n8n.instance.errors import no_response
from chie.n8n.models import Json, Node

TOOL = "validate_node_config"
BATCH = 50  # n8n takes no more at once
TIMEOUT_SECONDS = 5.0  # n8n needs a tenth of a second for a batch; a change must not wait for more
MAX_ANSWERS = 10_000
KEEP_SECONDS = 600.0  # n8n may be upgraded while this process runs

Errors = tuple[Json, ...]


@dataclass(frozen=True)
class NodeConfig:
    """The part of a node that n8n validates. Nodes with the same `key` have the same errors."""

    key: bytes
    request: Json = field(compare=False, repr=False)

    @classmethod
    def of(cls, node: Node, *, is_tool: bool) -> "NodeConfig":
        request = {"type": node["type"], "parameters": node.get("parameters") or {}}
        request |= {"typeVersion": node.get("typeVersion") or 1} | ({"isToolNode": True} if is_tool else {})
        return cls(sha256(json.dumps(request, sort_keys=True).encode()).digest(), request)


class ConfigChecks:
    def __init__(self, instance: InstanceClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._instance = instance
        self._clock = clock
        self._since = clock()
        self._answers: OrderedDict[bytes, Errors] = OrderedDict()

    async def errors(
        self, required: Iterable[NodeConfig], optional: Iterable[NodeConfig] = ()
    ) -> dict[NodeConfig, Errors]:
        """The errors of all required nodes, and of those optional ones that are known or fit into the same requests."""
        self._expire()
        needed, others = list(dict.fromkeys(required)), list(dict.fromkeys(optional))
        asked = [config for config in needed if config.key not in self._answers]
        spare = -len(asked) % BATCH if asked else BATCH
        asked += [one for one in others if one.key not in self._answers and one not in asked][:spare]
        fresh = await self._ask_all([asked[start : start + BATCH] for start in range(0, len(asked), BATCH)])
        known = {one: self._answers[one.key] for one in (*needed, *others) if one.key in self._answers}
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
        return {**known, **fresh}

    def _expire(self) -> None:
        if self._clock() - self._since > KEEP_SECONDS:
            self._answers.clear()
            self._since = self._clock()

    async def _ask_all(self, batches: Sequence[list[NodeConfig]]) -> dict[NodeConfig, Errors]:
        """n8n works on one batch after the other: the last waits for the others."""
        seconds = TIMEOUT_SECONDS + len(batches)
        try:
            async with asyncio.timeout(seconds):  # all attempts together
                answers = await asyncio.gather(*(self._ask(batch, seconds) for batch in batches))
        except TimeoutError as error:
            name, base = type(error).__name__, self._instance.base
            raise no_response(TOOL, base, name, untrusted=False, maybe_done=False) from error
        return {config: found for answer in answers for config, found in answer.items()}

    async def _ask(self, batch: list[NodeConfig], seconds: float) -> dict[NodeConfig, Errors]:
        answer = await self._instance.call(TOOL, {"nodes": [config.request for config in batch]}, seconds=seconds)
        rows = answer.get("results")
        found = {
            batch[row["index"]]: tuple(row.get("errors") or ())
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, dict)
        }
        self._answers |= {config.key: errors for config, errors in found.items()}
        return found
