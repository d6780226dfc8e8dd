"""Whether n8n answers, and what this key can do there."""

import asyncio

from chie.errors import ChieError, ServiceError
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError
from chie.n8n.models import Json

SECONDS = 5.0
OURS = ("workflow", "executions", "tags")  # the rest of n8n's API is no business of these tools


async def examine(client: N8nApiClient) -> Json:
    """Never fails: what is wrong is the answer."""
    found: Json = {"healthy": False, "url": client.base, "reachable": False, "keyValid": False}
    try:
        found["reachable"] = await client.is_up()
        await require(client)
        found["keyValid"] = found["healthy"] = True
        found |= await _capabilities(client)
    except ChieError as error:
        found["problem"] = error.message
        if isinstance(error, ApiError) and error.status_code is not None:
            found["reachable"] = True
    return found


async def require(client: N8nApiClient) -> Json:
    """One small question that needs a valid key; raises what is wrong, and soon: others wait for the house's health."""
    try:
        async with asyncio.timeout(SECONDS):
            await client.list_workflows({"limit": "1"})
    except TimeoutError as error:
        raise ServiceError(f"n8n at {client.base} did not answer within {SECONDS:.0f} seconds.") from error
    return {"n8n": client.base}


async def _capabilities(client: N8nApiClient) -> Json:
    try:
        answer = await client.discover()
    except ApiError as error:
        if error.status_code not in (404, 405):
            raise
        return {"capabilities": None, "note": "this n8n is older than 2.14 and does not tell what it can do"}
    resources = (answer.get("data") or {}).get("resources") or {}
    return {"capabilities": {name: part.get("operations") for name, part in resources.items() if name in OURS}}
