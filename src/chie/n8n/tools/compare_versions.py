"""`compare_versions`."""

from dataclasses import asdict

from pydantic import Field

from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.folder.comparison import changed_paths
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool
from chie.n8n.versions import CURRENT


class CompareVersionsArguments(Arguments):
    id: WorkflowId
    from_version: str = Field(alias="from", min_length=1, max_length=200, description="From list_versions.")
    to_version: str = Field(default=CURRENT, alias="to", min_length=1, max_length=200)


class CompareVersionsTool(BaseTool[CompareVersionsArguments]):
    name = "compare_versions"
    description = "Show what changed between two versions: nodes with the paths of their values, connections, settings."
    arguments = CompareVersionsArguments

    async def execute(self, args: CompareVersionsArguments) -> Json:
        difference, old, new = await self.context.versions.compare(args.id, args.from_version, args.to_version)
        found = {key: value for key, value in asdict(difference).items() if value}
        found |= {"changed": dict(changed_paths(old, new, difference))} if difference.changed else {}
        return {"from": args.from_version, "to": args.to_version, "same": difference.is_none, **found}
