"""The tables that both SQL stores have, as SQLite has them."""

import json
from collections.abc import Sequence
from datetime import datetime

from chie.database.cursor import utc_text
from chie.knowledge.store.link_table import LinkTable
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.store.version_table import VersionTable


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values))


VERSIONS = VersionTable("note_versions", "supersessions", r":\1", utc_text, datetime.fromisoformat)
LINKS = LinkTable("", VERSIONS, "?", "json_each(?)", _json, json.loads, visible)
