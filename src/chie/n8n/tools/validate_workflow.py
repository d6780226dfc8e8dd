"""`validate_workflow`."""

from pydantic import Field

from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, Connections, Nodes, WorkflowId
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.merge import completed
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool
from chie.n8n.validation import validate


class ValidateWorkflowArguments(Arguments):
    id: WorkflowId | None = None
    nodes: Nodes | None = Field(default=None, description="")
    connections: Connections | None = Field(default=None, description="")


class ValidateWorkflowTool(BaseTool[ValidateWorkflowArguments]):
    name = "validate_workflow"
    description = (
        "Validate a workflow without saving: structure, references in expressions, and with n8n's MCP token the "
        "parameters. Give the id of a stored one, or nodes and connections."
    )
    arguments = ValidateWorkflowArguments

    async def execute(self, args: ValidateWorkflowArguments) -> Json:
        nodes, connections = args.nodes, args.connections
        if args.id is None and (nodes is None or connections is None):
            raise ValidationError("n8n.workflow_or_id_required", ValidationErrorContext(field="id"))
        if args.id is not None:
            stored = await self.context.client.get_workflow(args.id)
            nodes = stored.get("nodes") if nodes is None else nodes
            connections = stored.get("connections") if connections is None else connections
        graph = {"nodes": [completed(dict(node)) for node in nodes or []], "connections": connections}
        validator = self.context.validator
        issues = await validator.add(validate(graph["nodes"], graph["connections"]), graph)
        errors = [*issues.errors, *issues.parameters]
        shown: Json = {
            "valid": not errors,
            "errors": [str(error) for error in errors],
            "warnings": [str(warning) for warning in issues.warnings],
        }
        return shown if validator.configured else {**shown, "note": str(Message("n8n.parameters_need_token"))}
