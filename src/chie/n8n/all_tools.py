"""All tools, in the order in which they are listed."""

from typing import Any

from chie.n8n.registry import ToolRegistry
from chie.n8n.tool import BaseTool
from chie.n8n.tool_context import ToolContext
from chie.n8n.tools.compare_versions import CompareVersionsTool
from chie.n8n.tools.create_workflow import CreateWorkflowTool
from chie.n8n.tools.create_workflow_from_file import CreateWorkflowFromFileTool
from chie.n8n.tools.delete_workflow import DeleteWorkflowTool
from chie.n8n.tools.describe_node import DescribeNodeTool
from chie.n8n.tools.find_nodes import FindNodesTool
from chie.n8n.tools.get_execution import GetExecutionTool
from chie.n8n.tools.get_workflow import GetWorkflowTool
from chie.n8n.tools.get_workflow_connections import GetWorkflowConnectionsTool
from chie.n8n.tools.list_backups import ListBackupsTool
from chie.n8n.tools.list_credentials import ListCredentialsTool
from chie.n8n.tools.list_executions import ListExecutionsTool
from chie.n8n.tools.list_versions import ListVersionsTool
from chie.n8n.tools.list_workflows import ListWorkflowsTool
from chie.n8n.tools.n8n_health import N8nHealthTool
from chie.n8n.tools.patch_workflow import PatchWorkflowTool
from chie.n8n.tools.publish_workflow import PublishWorkflowTool
from chie.n8n.tools.rehearse_change import RehearseChangeTool
from chie.n8n.tools.replace_workflow_from_file import ReplaceWorkflowFromFileTool
from chie.n8n.tools.restore_version import RestoreVersionTool
from chie.n8n.tools.restore_workflow import RestoreWorkflowTool
from chie.n8n.tools.retry_execution import RetryExecutionTool
from chie.n8n.tools.unpublish_workflow import UnpublishWorkflowTool
from chie.n8n.tools.update_workflow import UpdateWorkflowTool
from chie.n8n.tools.validate_workflow import ValidateWorkflowTool

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


def create_registry(context: ToolContext, *, read_only: bool = False) -> ToolRegistry:
    """The registered tools: with `read_only`, none that write; without `N8N_MCP_TOKEN`, none that need it."""
    registry = ToolRegistry()
    for kind in TOOLS:
        if kind.needs_token and not context.instance.configured:
            continue
        if kind.annotations.read_only_hint or not read_only:
            registry.register(kind(context))
    return registry
