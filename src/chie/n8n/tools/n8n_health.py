"""`n8n_health`."""

from chie.n8n.arguments import Arguments
from chie.n8n.health import examine
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class N8nHealthArguments(Arguments):
    pass


class N8nHealthTool(BaseTool[N8nHealthArguments]):
    name = "n8n_health"
    description = (
        "Whether n8n can be reached, whether the API key is valid, and what this n8n and this key can do. "
        "Call it first when another tool fails."
    )
    arguments = N8nHealthArguments

    async def execute(self, args: N8nHealthArguments) -> Json:  # noqa: ARG002
        return await examine(self.context.client)
