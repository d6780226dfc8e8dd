"""What the tools work with."""

from dataclasses import dataclass

from chie.n8n.backups import Backups
from chie.n8n.client import N8nApiClient
from chie.n8n.deletion import Remover
from chie.n8n.files import Folders
from chie.n8n.saving import Saver


@dataclass(frozen=True)
class ToolContext:
    client: N8nApiClient
    saver: Saver
    remover: Remover
    backups: Backups
    folders: Folders
    max_chars: int
