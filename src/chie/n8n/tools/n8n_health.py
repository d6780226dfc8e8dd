"""`n8n_health`."""

from chie.n8n.arguments import Arguments
from chie.n8n.health import report_health
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class N8nHealthArguments(Arguments):
    pass


class N8nHealthTool(BaseTool[N8nHealthArguments]):
    name = "n8n_health"
    description = "Check whether n8n is reachable and what this key may do. Call it first when another tool fails."
    arguments = N8nHealthArguments

    async def execute(self, args: N8nHealthArguments) -> Json:  # noqa: ARG002
        return await report_health(self.context.client, self.context.instance)
