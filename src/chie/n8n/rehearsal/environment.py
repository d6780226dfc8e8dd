"""Which nodes could read what belongs to n8n's machine: environment variables, variables and external secrets.

An expression is evaluated wherever its node only computes, and a rehearsal reports what comes out. So a change could
print `$env` into its report. Expressions may use what they need to compute with items, and nothing else: names are
compared with a list, because there are more ways to spell `$env` than to recognize. `$item` is not in it: `$item(0)`
has everything that an expression can name, `$env` included.
"""

import re
from collections.abc import Iterator
from typing import Any

from chie.n8n.models import Node

_ITEMS = frozenset(
    "agentInfo binary execution fromAI if ifEmpty input itemIndex items jmespath json max min mode node nodeId "
    "nodeVersion now pageCount parameter position prevNode request response runIndex today workflow".split()
)
_NAME = re.compile(r"\$([^\W\d]\w*)")
_DETOUR = re.compile(r"\\[ux]|\b(?:this|globalThis|global|process|constructor|eval|Function|require|import)\b")


def reads_environment(node: Node) -> bool:
    return any(map(_leaves_items, _texts(node.get("parameters"))))


def without_environment(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Parameters of a node that does not run: expressions of others can evaluate them."""
    match value:
        case str():
            return "" if _leaves_items(value) else value
        case list():
            return [without_environment(item) for item in value]
        case dict():
            return {key: without_environment(item) for key, item in value.items()}
    return value


def _leaves_items(text: str) -> bool:
    """Some nodes evaluate `{{ }}` also in texts that do not begin with `=`."""
    if not text.startswith("=") and "{{" not in text:
        return False
    return not _ITEMS.issuperset(_NAME.findall(text)) or _DETOUR.search(text) is not None


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)
