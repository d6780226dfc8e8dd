"""The tables that both SQL stores have, as PostgreSQL has them."""

from datetime import UTC, datetime

from chie.knowledge.store.link_table import LinkTable
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.store.version_table import VersionTable


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


VERSIONS = VersionTable("knowledge_versions", "knowledge_supersessions", r"%(\1)s", _utc, _utc, " FOR UPDATE")
LINKS = LinkTable("knowledge_", VERSIONS, "%s", "unnest(%s::text[]) AS elements (value)", list, list, visible)
