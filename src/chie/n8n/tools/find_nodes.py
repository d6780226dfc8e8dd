"""`find_nodes`."""

from pydantic import Field

from chie.n8n.arguments import Arguments
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class FindNodesArguments(Arguments):
    query: str = Field(min_length=1, max_length=200, description="E.g. slack, schedule trigger, edit fields.")


class FindNodesTool(BaseTool[FindNodesArguments]):
    name = "find_nodes"
    description = "Find the node types of this n8n by service or purpose: type, version, operations."
    arguments = FindNodesArguments
    needs_token = True

    async def execute(self, args: FindNodesArguments) -> Json:
        rows = await self.context.knowledge.search(args.query)
        return {"count": len(rows), "nodes": rows}
