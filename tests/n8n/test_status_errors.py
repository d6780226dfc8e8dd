"""The errors for n8n's statuses: texts that let an assistant act, without secrets."""

import json

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import connect, order_flow

from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.n8n.errors import ApiError, NotFoundError, RejectedKeysError


@pytest.mark.req("NW-6", "NW-7")
@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (401, "api_key_invalid", "`N8N_API_KEY` is not valid there"),
        (403, "permission_missing", "lacks the scope, or the licence of n8n does not include it"),
        (409, "state_conflict", "Read the workflow again and reapply your change."),
        (413, "body_too_large", "larger than n8n accepts"),
        (302, "redirected", "set `N8N_URL` to the final URL"),
        (400, "bad_request", "Correct what it names, then call again."),
    ],
)
async def test_message_contains_n8ns_sentence_and_the_next_step(
    fake: FakeN8n, status: int, code: str, hint: str
) -> None:
    fake.fail("POST", "/workflows", status, "n8n's own sentence.")
    client = connect(fake.url)
    with pytest.raises(ApiError) as failed:
        await client.create_workflow(order_flow())
    await client.aclose()
    assert failed.value.message.startswith(f"Failed to create workflow: n8n returned {status}: n8n's own sentence.")
    assert failed.value.code == f"n8n.{code}"
    assert failed.value.reason.params == {
        "operation": Message("n8n.operation_create_workflow"),
        "status": status,
        "reason": Message("n8n.with_reason", sentence="n8n's own sentence"),
    }
    assert hint in failed.value.message
    assert failed.value.context is not None
    assert failed.value.context.status_code == status


@pytest.mark.req("NW-6")
async def test_the_status_comes_from_http_and_not_from_the_body(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows/x", 404, text=json.dumps({"status": 500, "code": 200, "message": "Not Found"}))
    client = connect(fake.url)
    with pytest.raises(NotFoundError):
        await client.get_workflow("x")
    await client.aclose()


async def test_web_page_means_a_wrong_url(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows", 200, text="<!DOCTYPE html><title>n8n.io</title>", kind="text/html")
    client = connect(fake.url)
    with pytest.raises(ApiError, match=r"the response was a web page, not n8n's API\. Set `N8N_URL`"):
        await client.list_workflows({})
    await client.aclose()


async def test_error_with_a_web_page_does_not_contain_the_page(fake: FakeN8n) -> None:
    fake.fail("POST", "/workflows", 413, text="<html>Payload too large at /usr/lib/n8n</html>", kind="text/html")
    client = connect(fake.url)
    with pytest.raises(ApiError, match=r"n8n returned 413 without a reason\. The request is larger") as failed:
        await client.create_workflow(order_flow())
    await client.aclose()
    assert "/usr/lib" not in failed.value.message


async def test_json_other_than_a_list_is_an_error(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows", 200, text='{"hello": 1}')
    client = connect(fake.url)
    with pytest.raises(ApiError, match="not a list"):
        await client.list_workflows({})
    await client.aclose()


@pytest.mark.parametrize(
    ("message", "part", "keys"),
    [
        ("request/body/settings Unrecognized key(s) in object: 'a', 'b'", "settings", {"a", "b"}),
        ("request/body/nodes/3 Unrecognized key(s) in object: 'issues'", "nodes", {"issues"}),
        ("request/body Unrecognized key(s) in object: 'pinData'", "body", {"pinData"}),
        ("request/body/settings must NOT have additional properties", "settings", set()),
        ("request/body must NOT have additional properties", "body", set()),
    ],
)
async def test_rejected_keys_are_parsed_in_both_wordings(
    fake: FakeN8n, message: str, part: str, keys: set[str]
) -> None:
    fake.fail("POST", "/workflows", 400, message)
    client = connect(fake.url)
    with pytest.raises(RejectedKeysError) as caught:
        await client.create_workflow(order_flow())
    await client.aclose()
    assert (caught.value.part, set(caught.value.keys)) == (part, keys)


@pytest.mark.req("NW-8")
async def test_api_key_and_extra_headers_are_sent_and_never_shown(fake: FakeN8n) -> None:
    key = "secret-key-0123456789"
    client = connect(fake.url, key=key, CF_Access_Client_Secret="proxy-secret-0123")
    with pytest.raises(ApiError) as failed:
        await client.list_workflows({})
    await client.aclose()
    assert fake.seen[-1].headers["x-n8n-api-key"] == key
    assert fake.seen[-1].headers["cf-access-client-secret"] == "proxy-secret-0123"
    shown = f"{failed.value.message} {failed.value.details()} {failed.value!r} {client.base}"
    assert key not in shown
    assert "proxy-secret" not in shown


@pytest.mark.req("NW-8")
async def test_secret_in_n8ns_sentence_is_redacted(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows", 400, "bad header Authorization: Bearer abcdefghijkl")
    client = connect(fake.url)
    with pytest.raises(ApiError) as failed:
        await client.list_workflows({})
    await client.aclose()
    assert "abcdefghijkl" not in f"{failed.value.message} {failed.value.details()}"


def test_errors_are_chie_errors() -> None:
    assert issubclass(ApiError, ChieError)
    assert issubclass(NotFoundError, ChieError)
