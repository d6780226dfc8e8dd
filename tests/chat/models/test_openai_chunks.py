"""Calls are assembled from fragments, however a server identifies them."""

from typing import Any

import pytest
from tests.chat.models.quirky import Quirky, answer, chunk

from chie.chat.models.chunks import Call


def fragment(name: str | None = None, arguments: object = None, **fields: Any) -> dict[str, Any]:
    return chunk(tool_calls=[{**fields, "function": {"name": name, "arguments": arguments}}])


ONE = [("f", '{"x": 1}')]
TWO = [("f", '{"x": 1}'), ("g", '{"x": 2}')]
TWINS = [("f", '{"x": 1}'), ("f", '{"x": 2}')]
NO_INDEX = {"index": None}


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        ([fragment("f", "", id="a"), fragment(None, '{"x": '), fragment(None, "1}")], ONE),
        ([fragment("f", "", id="a", **NO_INDEX), fragment(None, '{"x": ', **NO_INDEX), fragment("", "1}")], ONE),
        ([fragment("f", '{"x": ', id="a"), fragment(None, "1}", id="a")], ONE),
        ([fragment("f", '{"x": ', id="a"), fragment("f", "1}", id="a")], ONE),
        ([fragment("f", '{"x": ', id="a", index=0), fragment("f", "1}", id="a", index=0)], ONE),
        ([fragment("f", '{"x": ', index=0), fragment("f", "1}", index=0), fragment("f", "", index=0)], ONE),
        ([fragment("f", '{"x": ', id="a", index=0), fragment(None, "1}", id="b", index=0)], ONE),
        ([fragment(None, None, id="a", index=0), fragment("f", '{"x": 1}', index=0)], ONE),
        ([fragment("f", {"x": 1}, id="a", index=0)], ONE),
        ([fragment("f", '{"x": 1}', id="a"), fragment("g", '{"x": 2}', id="b")], TWO),
        ([fragment("f", '{"x": 1}', **NO_INDEX), fragment("g", '{"x": 2}', **NO_INDEX)], TWO),
        ([fragment("f", '{"x": 1}', id="a", index=0), fragment("g", '{"x": 2}', id="b", index=0)], TWO),
        ([fragment("f", '{"x": 1}', index=0), fragment("g", '{"x": 2}', index=0)], TWO),
        ([fragment("f", '{"x": 1}', id="a"), fragment("g", '{"x": 2}', id="a")], TWO),
        (
            [
                fragment("f", "", id="a", index=0),
                fragment("g", "", id="b", index=1),
                fragment(None, '{"x": 1}', index=0),
                fragment(None, '{"x": 2}', index=1),
            ],
            TWO,
        ),
        ([fragment("f", '{"x": 1}', id="a"), fragment("f", '{"x": 2}', id="b")], TWINS),
        ([fragment("f", '{"x": 1}'), fragment("f", '{"x": 2}')], TWINS),
        ([fragment("f", '{"x": 1}', index=0), fragment("f", '{"x": 2}', index=0)], TWINS),
        ([fragment("f", '{"x": 1}', id="a", index=0), fragment("f", '{"x": 2}', id="a", index=1)], TWINS),
    ],
)
async def test_fragments_are_joined_into_calls(fragments: list[dict[str, Any]], calls: list[tuple[str, str]]) -> None:
    with Quirky(*fragments, chunk("tool_calls")) as server:
        chunks = await answer(server)
    assert [(item.name, item.arguments) for item in chunks if isinstance(item, Call)] == calls


async def test_ids_and_japanese_arguments_are_preserved() -> None:
    with Quirky(fragment("f", {"語": "知恵"}, id="a"), fragment("g", "{}", id="b"), chunk("tool_calls")) as server:
        first, second, _ = await answer(server)
    assert (first, second) == (Call("a", "f", '{"語": "知恵"}'), Call("b", "g", "{}"))
