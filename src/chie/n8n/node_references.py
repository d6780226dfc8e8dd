"""References to nodes in expressions and code: `$('A')`, `$items("A")`, `$node["A"]` and `$node.A`."""

import re
from collections.abc import Iterator
from itertools import takewhile

CALLS = r"\$(?:\(|items\(|node\[)\s*"

_QUOTED = re.compile(rf"""{CALLS}(?P<quote>['"`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])+)(?P=quote)\s*[),\]]""")
_DOTTED = re.compile(r"\$node\.")


def is_identifier(name: str) -> bool:
    """Whether it is a JavaScript identifier: letters of any script, as in Python, and `$`."""
    return name.replace("$", "_").isidentifier()


def continues_identifier(character: str) -> bool:
    return is_identifier(f"_{character}")


def referenced_nodes(text: str) -> Iterator[str]:
    """The names of the nodes that the text refers to."""
    if "$" not in text:
        return
    for match in _QUOTED.finditer(text):
        yield re.sub(r"\\(.)", r"\1", match["name"])
    for match in _DOTTED.finditer(text):
        rest = map(text.__getitem__, range(match.end(), len(text)))  # slicing would take quadratic time
        if name := "".join(takewhile(continues_identifier, rest)):
            yield name
