"""The tools about this n8n: its credentials, and whether it is reachable."""

from pydantic import Field

from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments
from chie.n8n.health import report_health
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool

MAX_ROWS = 200


class ListCredentialsArguments(Arguments):
    query: str | None = Field(default=None, max_length=200, description="Part of the name or type.")


class ListCredentialsTool(BaseTool[ListCredentialsArguments]):
    name = "list_credentials"
    description = "List credentials that a new node can reuse: id, name, type. Never their secrets."
    arguments = ListCredentialsArguments

    async def execute(self, args: ListCredentialsArguments) -> Json:
        wanted = (args.query or "").strip().casefold()
        found = [
            {key: str(row.get(key)) for key in ("id", "name", "type")}  # nothing else, whatever n8n returns
            for row in await self.context.client.list_credentials()
            if wanted in f"{row.get('name')} {row.get('type')}".casefold()
        ]
        shown = found[:MAX_ROWS]
        result: Json = {"count": len(found), "credentials": shown}
        if len(shown) < len(found):
            note = Message("n8n.credentials_left_out", shown=len(shown), count=len(found))
            result |= {"hasMore": True, "note": str(note)}
        return result


class N8nHealthArguments(Arguments):
    pass


class N8nHealthTool(BaseTool[N8nHealthArguments]):
    name = "n8n_health"
    description = "Check whether n8n is reachable and what this key may do. Call it first when another tool fails."
    arguments = N8nHealthArguments

    async def execute(self, args: N8nHealthArguments) -> Json:  # noqa: ARG002
        return await report_health(self.context.client, self.context.instance)
