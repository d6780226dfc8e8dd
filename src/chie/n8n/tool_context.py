"""The dependencies of the tools."""

from dataclasses import dataclass

from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.deletion import WorkflowDeleter
from chie.n8n.instance.client import InstanceClient
from chie.n8n.nodes.knowledge import NodeKnowledge
from chie.n8n.nodes.validator import ParameterValidator
from chie.n8n.rehearsal.rehearsal import Rehearsal
from chie.n8n.saving import WorkflowSaver
from chie.n8n.versions import Versions
from chie.n8n.workflow_files import AllowedFolders


@dataclass(frozen=True)
class ToolContext:
    client: N8nApiClient
    instance: InstanceClient
    knowledge: NodeKnowledge
    validator: ParameterValidator
    rehearsal: Rehearsal
    saver: WorkflowSaver
    deleter: WorkflowDeleter
    backups: Backups
    versions: Versions
    folders: AllowedFolders
    max_chars: int
