"""The size limit of results: truncated parts are marked, and every row of a list can still be reached."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Instance, calling, order_flow
from tests.n8n.workflows import values

from chie.messages.catalogue import Message
from chie.n8n.errors import ValidationError
from chie.n8n.paging import Cursor
from chie.n8n.truncation import json_size, truncate

ADVICE = Message("n8n.truncation_advice")


@given(result=st.dictionaries(st.text(max_size=5), values, max_size=6), limit=st.integers(500, 4_000))
def test_no_result_exceeds_the_limit(result: dict[str, Any], limit: int) -> None:
    grown = {key: [value] * 300 for key, value in result.items()} | {"text": "字" * 3_000}
    shown = truncate(grown, limit, ADVICE)
    assert json_size(shown) <= limit
    if json_size(grown) > limit:
        assert isinstance(shown, dict)
        assert str(ADVICE) in shown["truncated"]


def test_result_within_the_limit_is_unchanged() -> None:
    result = {"a": ["x" * 50] * 3}
    assert truncate(result, 1_000, ADVICE) is result


@pytest.mark.req("NW-3")
async def test_every_row_of_a_raw_list_is_reachable(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    made = [fake.add_workflow(**order_flow(f"流れ {number}"))["id"] for number in range(9)]
    seen: list[str] = []
    async with calling(instance, tmp_path, max_chars=6_000) as call:
        page = (await call("list_workflows", limit=6, raw=True)).data
        assert "did not fit into this result. nextCursor continues with them" in page["truncated"]
        for _ in range(20):
            seen += [row["id"] for row in page["workflows"]]
            if not page["hasMore"]:
                break
            answer = await call("list_workflows", limit=6, raw=True, cursor=page["nextCursor"])
            assert len(answer.text) <= 6_000
            page = answer.data
    assert seen == made


async def test_offset_beyond_one_page_of_n8n(call: Caller, fake: FakeN8n) -> None:
    for number in range(260):
        fake.add_workflow(name=f"n{number}")
    page = (await call("list_workflows", limit=5, offset=255)).data
    assert [row["name"] for row in page["workflows"]] == [f"n{number}" for number in range(255, 260)]
    assert page["hasMore"] is False


async def test_cursor_with_other_filters_is_rejected(call: Caller, fake: FakeN8n) -> None:
    for number in range(3):
        fake.add_workflow(name=f"n{number}")
    first = (await call("list_workflows", name="n", limit=1)).data
    answer = await call("list_workflows", name="other", limit=1, cursor=first["nextCursor"])
    assert answer.code == "n8n.cursor_filters_differ"


async def test_repeated_cursor_ends_the_list(call: Caller, fake: FakeN8n) -> None:
    same = Cursor(upstream="eyJsaW1pdCI6MCwib2Zmc2V0IjowfQ==").upstream
    body = json.dumps({"data": [{"id": "1", "name": "x"}], "nextCursor": same})
    fake.fail("GET", "/workflows", 200, text=body, times=2)
    first = (await call("list_workflows")).data
    second = (await call("list_workflows", cursor=first["nextCursor"])).data
    assert (first["hasMore"], second["hasMore"]) == (True, False)


@pytest.mark.parametrize("text", ["nonsense", "e30=", "W10=", "bnVsbA==", "eyJjIjoxLCJzIjoieCIsImYiOltdfQ=="])
async def test_unknown_cursor_is_rejected(call: Caller, text: str) -> None:
    assert (await call("list_workflows", cursor=text)).code == "n8n.cursor_unknown"


def test_cursor_of_n8n_is_accepted() -> None:
    own = "eyJsaW1pdCI6Miwib2Zmc2V0IjoyfQ=="
    assert Cursor.decode(own) == Cursor(upstream=own)
    again = Cursor(own, 3, {"name": "請求"})
    assert Cursor.decode(again.encode()) == again
    with pytest.raises(ValidationError):
        Cursor.decode("[]")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"active": "true"}, {"active": "true"}),
        ({"tags": ["a", "b"], "name": "請求"}, {"tags": "a,b", "name": "請求"}),
        ({"projectId": "p1"}, {"projectId": "p1"}),
    ],
)
async def test_filters_are_passed_to_n8n(
    call: Caller, fake: FakeN8n, arguments: dict[str, Any], query: dict[str, str]
) -> None:
    await call("list_workflows", **arguments)
    assert fake.seen[-1].query == {**query, "limit": "50", "excludePinnedData": "true"}
