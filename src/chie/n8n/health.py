"""Health checks: whether n8n responds, and the capabilities of this API key."""

import asyncio

from chie.errors import ChieError, ServiceError
from chie.messages.catalogue import Message
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError
from chie.n8n.instance.client import InstanceClient
from chie.n8n.models import Json

CHECK_TIMEOUT_SECONDS = 5.0
USED_RESOURCES = ("workflow", "executions", "tags")  # these tools use nothing else of n8n's API


async def report_health(client: N8nApiClient, instance: InstanceClient) -> Json:
    """The state as the result of a tool. It never raises: a problem is part of the result."""
    found: Json = {"healthy": False, "url": client.base, "reachable": False, "keyValid": False}
    try:
        found["reachable"] = await client.is_up()
        await check(client)
        found["keyValid"] = found["healthy"] = True
        found |= await _capabilities(client)
    except ChieError as error:
        found["problem"] = error.message
        if isinstance(error, ApiError) and error.status_code is not None:
            found["reachable"] = True
    return found | {"mcpServer": await _mcp_server(instance)}


async def _mcp_server(instance: InstanceClient) -> Json:
    """Not part of `healthy`: everything else works without n8n's own MCP server."""
    if not instance.configured:
        return {"configured": False, "note": str(Message("n8n.mcp_token_would_add"))}
    try:
        await instance.check()
    except ChieError as error:
        return {"configured": True, "tokenValid": False, "problem": error.message}
    return {"configured": True, "tokenValid": True}


async def check(client: N8nApiClient) -> Json:
    """Make one small request that needs a valid key. The timeout is short because the app's health waits for it."""
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
            await client.list_workflows({"limit": "1"})
    except TimeoutError as error:
        raise ServiceError("n8n.health_timeout", url=client.base, seconds=round(CHECK_TIMEOUT_SECONDS)) from error
    return {"n8n": client.base}


async def _capabilities(client: N8nApiClient) -> Json:
    try:
        response = await client.discover()
    except ApiError as error:
        if error.status_code not in (404, 405):
            raise
        return {"capabilities": None, "note": str(Message("n8n.capabilities_unknown"))}
    resources = (response.get("data") or {}).get("resources") or {}
    return {
        "capabilities": {name: part.get("operations") for name, part in resources.items() if name in USED_RESOURCES}
    }
