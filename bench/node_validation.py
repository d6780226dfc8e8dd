"""How long a change waits for n8n to validate the parameters of nodes. Part of `bench.rehearsals`, on the same n8n."""

import asyncio
import statistics
import time
from copy import deepcopy
from typing import Any

from pydantic import SecretStr
from tests.real.n8n_server import RealN8n

from bench.figure import Figure
from chie.n8n.http import Endpoint
from chie.n8n.instance.client import InstanceClient
from chie.n8n.nodes.knowledge import NodeKnowledge
from chie.n8n.nodes.validator import ParameterValidator

ROUNDS = 7
AIM_SECONDS = 0.5
SIZES = (40, 500)
Json = dict[str, Any]

KINDS: tuple[tuple[str, float, Json], ...] = (
    ("set", 3.4, {"options": {}}),
    ("httpRequest", 4.2, {"method": "POST", "url": "https://example.test"}),
    ("code", 2, {"jsCode": "return []"}),
    ("slack", 2.3, {"resource": "message", "operation": "post", "select": "channel", "text": "在庫"}),
    ("noOp", 1, {}),
)


def nodes(count: int) -> list[Json]:
    """No two have the same parameters, so that every one of them costs n8n a validation."""
    found = []
    for number in range(count):
        kind, version, parameters = KINDS[number % len(KINDS)]
        node = {"id": str(number), "name": f"n{number}", "type": f"n8n-nodes-base.{kind}", "typeVersion": version}
        found.append({**node, "parameters": {**parameters, "number": number}})
    return found


async def seconds(n8n: RealN8n, now: list[Json], stored: list[Json]) -> float:
    """Median of validators that know nothing yet, as after a start of Chie."""
    times = []
    for _ in range(ROUNDS + 1):  # the first is not counted: n8n loads the schemas of the nodes
        instance = InstanceClient(Endpoint(n8n.url, SecretStr(n8n.mcp_token), {}))
        validator = ParameterValidator(instance, NodeKnowledge(instance))
        await instance.check()  # connected
        start = time.perf_counter()
        found = await validator.validate(now, {}, stored)
        times.append(time.perf_counter() - start)
        await instance.aclose()
        if found.errors or found.warnings:
            raise RuntimeError([str(message) for message in (*found.errors, *found.warnings)][:5])
    return statistics.median(times[1:])


def measure(n8n: RealN8n) -> list[Figure]:
    figures = []
    for size in SIZES:
        stored = nodes(size)
        changed = deepcopy(stored)
        changed[size // 2]["parameters"]["number"] = -1
        change = asyncio.run(seconds(n8n, changed, stored))
        figures.append(Figure(f"validation of a change of one node of {size}", "Chie", change, "s", AIM_SECONDS))
        new = asyncio.run(seconds(n8n, stored, []))
        figures.append(Figure(f"validation of a new workflow with {size} nodes", "Chie", new, "s", AIM_SECONDS))
    return figures
