"""`validate_workflow`."""

from chie.n8n.arguments import Arguments, Connections, Nodes, WorkflowId
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.merge import completed
from chie.n8n.models import Json
from chie.n8n.structure import check
from chie.n8n.tool import BaseTool


class ValidateWorkflowArguments(Arguments):
    id: WorkflowId | None = None
    nodes: Nodes | None = None
    connections: Connections | None = None


class ValidateWorkflowTool(BaseTool[ValidateWorkflowArguments]):
    name = "validate_workflow"
    description = (
        "Check a workflow's structure without saving anything: names, ids, shapes, connections, references in "
        "expressions. Give id for one that n8n has, or nodes and connections. Parameters of nodes are not judged."
    )
    arguments = ValidateWorkflowArguments

    async def execute(self, args: ValidateWorkflowArguments) -> Json:
        nodes, connections = args.nodes, args.connections
        if args.id is None and (nodes is None or connections is None):
            raise ValidationError("Give id, or nodes together with connections.", ValidationErrorContext(field="id"))
        if args.id is not None:
            stored = await self.context.client.get_workflow(args.id)
            nodes = stored.get("nodes") if nodes is None else nodes
            connections = stored.get("connections") if connections is None else connections
        found = check([completed(dict(node)) for node in nodes or []], connections)
        return {"valid": not found.errors, "errors": found.errors, "warnings": found.warnings}
