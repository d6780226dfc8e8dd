"""The targets with Hypothesis, quickly; `make fuzz` lets atheris look for hours."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fuzz import targets
from tests.fuzz.targets import TARGETS

FEW = settings(max_examples=60, deadline=None)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
keys = st.sampled_from(["op", "node", "name", "changes", "newName", "from", "to", "output", "input", "path", "value"])
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["addNode", "removeNode", "updateNode", "renameNode", "connect", "disconnect", "setField"])}
).flatmap(
    lambda op: st.dictionaries(keys, st.sampled_from(["Start", "送信", "parameters.a[0]", {"type": []}]) | values).map(
        op.__or__
    )
)
matter = st.dictionaries(st.sampled_from(["id", "title", "tags", "created", "source", "status", "private"]), values)


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("name", TARGETS)
@FEW
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)


@FEW
@given(fields=matter, body=st.text(max_size=100))
def test_any_front_matter(fields: dict[str, Any], body: str) -> None:
    targets.markdown_file(b"---\n" + written(fields) + b"\n---\n" + body.encode("utf-8", "replace"))


BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    + [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
)


@pytest.mark.parametrize("field", ["id", "title", "tags", "source", "status", "user_id", "created", "author_kind"])
def test_front_matter_that_would_unfold_to_gigabytes_is_read_at_once(field: str) -> None:
    targets.markdown_file(f"---\n{BOMB}\n{field}: *i\n---\ntext\n".encode())


@FEW
@given(items=st.lists(st.text() | values, max_size=8))
@example(items=["\u2028\r\n\n: x\ndata: y\n\n", "\x00", "知恵"])
def test_any_answer(items: list[Any]) -> None:
    targets.sse_encoder(written(items))


@FEW
@given(given_=st.lists(operations, max_size=5))
def test_any_operations(given_: list[dict[str, Any]]) -> None:
    targets.n8n_patch(written(given_))


@FEW
@given(
    change=st.dictionaries(
        st.sampled_from(["name", "nodes", "settings"]),
        values
        | st.lists(
            st.dictionaries(
                st.sampled_from(["id", "name", "type", "parameters", "credentials"]),
                st.sampled_from(["1", "Start"]) | values,
            ),
            max_size=3,
        ),
    )
)
def test_any_change(change: dict[str, Any]) -> None:
    targets.n8n_merge(written(change))
