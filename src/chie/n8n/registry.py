"""The tools, in the order in which they are listed, and the registry of those that a server has."""

from collections.abc import Iterator
from typing import Any

from chie.n8n.tool import BaseTool, ToolContext, ToolDefinition
from chie.n8n.tools.changes import (
    CreateWorkflowFromFileTool,
    CreateWorkflowTool,
    PatchWorkflowTool,
    ReplaceWorkflowFromFileTool,
    UpdateWorkflowTool,
)
from chie.n8n.tools.executions import GetExecutionTool, ListExecutionsTool, RehearseChangeTool, RetryExecutionTool
from chie.n8n.tools.instance import ListCredentialsTool, N8nHealthTool
from chie.n8n.tools.nodes import DescribeNodeTool, FindNodesTool
from chie.n8n.tools.versions import (
    CompareVersionsTool,
    ListBackupsTool,
    ListVersionsTool,
    RestoreVersionTool,
    RestoreWorkflowTool,
)
from chie.n8n.tools.workflows import (
    DeleteWorkflowTool,
    GetWorkflowConnectionsTool,
    GetWorkflowTool,
    ListWorkflowsTool,
    PublishWorkflowTool,
    UnpublishWorkflowTool,
    ValidateWorkflowTool,
)

TOOLS: tuple[type[BaseTool[Any]], ...] = (
    ListWorkflowsTool,
    GetWorkflowTool,
    GetWorkflowConnectionsTool,
    CreateWorkflowTool,
    CreateWorkflowFromFileTool,
    UpdateWorkflowTool,
    ReplaceWorkflowFromFileTool,
    DeleteWorkflowTool,
    ListExecutionsTool,
    GetExecutionTool,
    ValidateWorkflowTool,
    PatchWorkflowTool,
    RehearseChangeTool,
    ListVersionsTool,
    CompareVersionsTool,
    RestoreVersionTool,
    ListBackupsTool,
    RestoreWorkflowTool,
    RetryExecutionTool,
    PublishWorkflowTool,
    UnpublishWorkflowTool,
    FindNodesTool,
    DescribeNodeTool,
    ListCredentialsTool,
    N8nHealthTool,
)


class ToolRegistry:
    def __init__(self) -> None:
        self._tools: dict[str, BaseTool[Any]] = {}

    def register(self, tool: BaseTool[Any]) -> None:
        if tool.name in self._tools:
            raise ValueError(f"tool {tool.name} is already registered")
        self._tools[tool.name] = tool

    def get(self, name: str) -> BaseTool[Any]:
        return self._tools[name]

    def definitions(self) -> list[ToolDefinition]:
        return [tool.to_definition() for tool in self]

    def __iter__(self) -> Iterator[BaseTool[Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: str) -> bool:
        return name in self._tools


def create_registry(context: ToolContext, *, read_only: bool = False) -> ToolRegistry:
    """The registered tools: with `read_only`, none that write; without `N8N_MCP_TOKEN`, none that need it."""
    registry = ToolRegistry()
    for kind in TOOLS:
        if kind.needs_token and not context.instance.configured:
            continue
        if kind.annotations.read_only_hint or not read_only:
            registry.register(kind(context))
    return registry
