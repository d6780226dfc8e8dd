"""The tools that read, validate, publish and delete workflows."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import (
    Arguments,
    Connections,
    Limit,
    NodeName,
    Nodes,
    PageCursor,
    RawArguments,
    Tags,
    WorkflowId,
)
from chie.n8n.change_preview import named_preview
from chie.n8n.errors import NotFoundError, ValidationError, ValidationErrorContext
from chie.n8n.graph import flowchart, quoted_names
from chie.n8n.merge import completed
from chie.n8n.models import Json, Page, Workflow
from chie.n8n.paging import RESERVED_SIZE, Listing, read_page
from chie.n8n.tool import CHANGE, BaseTool, RawTool, ToolResponse
from chie.n8n.validation import validate
from chie.n8n.workflow_summary import graph, overview, report, row

GRAPH_VIEW = "ui://n8n/workflow.html"


class ListWorkflowsArguments(RawArguments):
    active: bool | None = Field(default=None, description="Only published, or only unpublished.")
    tags: Tags | None = Field(default=None, description="All of them.")
    name: str | None = Field(default=None, description="Part of the name.")
    project_id: str | None = Field(default=None)
    limit: Limit = 50
    offset: int = Field(default=0, ge=0)
    cursor: PageCursor | None = None

    def filters(self) -> dict[str, str]:
        given = {
            "active": None if self.active is None else str(self.active).lower(),
            "tags": ",".join(self.tags or []),
            "name": self.name,
            "projectId": self.project_id,
        }
        return {name: value for name, value in given.items() if value}


class ListWorkflowsTool(RawTool[ListWorkflowsArguments]):
    name = "list_workflows"
    description = (
        "List workflows: id, name, active, tags; sorted by id. While hasMore is true, call again with cursor = "
        "nextCursor."
    )
    arguments = ListWorkflowsArguments

    async def execute_core(self, args: ListWorkflowsArguments) -> Listing:
        async def fetch(query: Mapping[str, str]) -> Page:
            return await self.context.client.list_workflows(
                query if args.raw else {**query, "excludePinnedData": "true"}
            )

        return await read_page(
            fetch,
            (lambda workflow: workflow) if args.raw else row,
            filters=args.filters(),
            limit=args.limit,
            offset=args.offset,
            cursor=args.cursor,
            max_size=self.context.max_chars - RESERVED_SIZE,
        )

    def format_response(self, data: Listing, *, raw: bool) -> Json:  # noqa: ARG002 - used while reading
        return data.result("workflows")


class GetWorkflowArguments(RawArguments):
    id: WorkflowId
    node_name: NodeName | None = Field(default=None, description="Name or id.")


@dataclass(frozen=True)
class Requested:
    workflow: Workflow
    node: str | None


class GetWorkflowTool(RawTool[GetWorkflowArguments]):
    name = "get_workflow"
    description = (
        "Read one workflow: state, tags, nodes by name and type. nodeName returns one node with its parameters; "
        "raw=true everything, which update_workflow accepts."
    )
    arguments = GetWorkflowArguments
    truncation_advice = Message("n8n.truncation_advice_workflow")

    async def execute_core(self, args: GetWorkflowArguments) -> Requested:
        return Requested(await self.context.client.get_workflow(args.id), args.node_name)

    def format_response(self, data: Requested, *, raw: bool) -> Json:
        if data.node is not None:
            return _one_node(data.workflow, data.node)
        return data.workflow if raw else overview(data.workflow)


def _one_node(workflow: Workflow, name: str) -> Json:
    nodes = workflow.get("nodes") or []
    for node, vertex in zip(nodes, graph(workflow), strict=True):
        if name in (node.get("name"), node.get("id")):
            links = {"inputs": vertex["inputs"], "outputs": vertex["outputs"]}
            return {"workflowId": workflow["id"], "versionId": workflow.get("versionId"), "node": node, **links}
    raise NotFoundError("n8n.node_not_found", nodes=quoted_names(nodes))


class GetWorkflowConnectionsArguments(RawArguments):
    id: WorkflowId


class GetWorkflowConnectionsTool(RawTool[GetWorkflowConnectionsArguments]):
    name = "get_workflow_connections"
    description = "Read the graph of a workflow: inputs and outputs of each node, and a Mermaid flowchart."
    arguments = GetWorkflowConnectionsArguments
    view = GRAPH_VIEW

    async def execute_core(self, args: GetWorkflowConnectionsArguments) -> Workflow:
        return await self.context.client.get_workflow(args.id)

    def format_response(self, data: Workflow, *, raw: bool) -> Json:
        shown: Json = {"id": data["id"], "name": data["name"], "graph": graph(data)}
        if raw:
            shown["rawConnections"] = data.get("connections")
        return shown | {"mermaid": flowchart(data)}

    def respond(self, result: object, *, whole: bool) -> ToolResponse:
        """The flowchart is a content block of its own, as clients that render Mermaid expect."""
        rest = dict(result) if isinstance(result, dict) else {}
        drawn = rest.pop("mermaid", "")
        response = super().respond(rest, whole=whole)
        if whole or len(drawn) <= self.context.max_chars:
            response["content"].append({"type": "text", "text": f"```mermaid\n{drawn}\n```"})
        return response


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
        given = {"nodes": [completed(dict(node)) for node in nodes or []], "connections": connections}
        validator = self.context.validator
        issues = await validator.add(validate(given["nodes"], given["connections"]), given)
        errors = [*issues.errors, *issues.parameters]
        shown: Json = {
            "valid": not errors,
            "errors": [str(error) for error in errors],
            "warnings": [str(warning) for warning in issues.warnings],
        }
        return shown if validator.configured else {**shown, "note": str(Message("n8n.parameters_need_token"))}


class PublishWorkflowArguments(Arguments):
    id: WorkflowId


class PublishWorkflowTool(BaseTool[PublishWorkflowArguments]):
    name = "publish_workflow"
    description = (
        "Publish the stored version of a workflow: triggers and webhooks become active. It requires a trigger "
        "other than the manual one."
    )
    annotations = CHANGE
    arguments = PublishWorkflowArguments

    async def preview(self, args: PublishWorkflowArguments) -> CallPreview:
        consequence = [Message("n8n.preview_publishes")]
        return await named_preview(self.context.client, args.id, "n8n.preview_publish", notes=consequence)

    async def execute(self, args: PublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=True), raw=False)


class UnpublishWorkflowArguments(Arguments):
    id: WorkflowId


class UnpublishWorkflowTool(BaseTool[UnpublishWorkflowArguments]):
    name = "unpublish_workflow"
    description = "Unpublish a workflow: its triggers and webhooks stop. The workflow itself is unchanged."
    annotations = CHANGE
    arguments = UnpublishWorkflowArguments

    async def preview(self, args: UnpublishWorkflowArguments) -> CallPreview:
        consequence = [Message("n8n.preview_unpublishes")]
        return await named_preview(self.context.client, args.id, "n8n.preview_unpublish", notes=consequence)

    async def execute(self, args: UnpublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=False), raw=False)


class DeleteWorkflowArguments(Arguments):
    id: WorkflowId


class DeleteWorkflowTool(BaseTool[DeleteWorkflowArguments]):
    name = "delete_workflow"
    description = (
        "Delete a workflow and its executions. A backup is written first; the executions are lost. Ask the user "
        "first unless they named it."
    )
    annotations = CHANGE
    arguments = DeleteWorkflowArguments

    async def preview(self, args: DeleteWorkflowArguments) -> CallPreview:
        lost = [Message("n8n.preview_deletion_note")]
        return await named_preview(self.context.client, args.id, "n8n.preview_delete", danger="delete", notes=lost)

    async def execute(self, args: DeleteWorkflowArguments) -> Json:
        done = await self.context.deleter.delete(args.id)
        return {
            "id": args.id,
            "name": done.workflow["name"],
            "deleted": True,
            "steps": [str(step) for step in done.steps],
        }
