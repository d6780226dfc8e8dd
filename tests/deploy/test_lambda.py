"""Chie on AWS Lambda: a real process that takes invocations from a Runtime API on loopback."""

import json
import os
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.app.processes import BIN
from tests.deploy.container import DEPLOY, ROOT
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.chat import postgres
from tests.fakes.lambda_runtime_api import HOST, LambdaRuntimeApi, event
from tests.fakes.model_server import Stall, Use, say, use
from tests.fakes.postgres import new_database
from tests.fakes.sse import parse, texts

__all__ = ["postgres"]

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "a-long-secret",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "1",
    "CHIE_BEHIND_PROXY_AUTH": "1",
    "CHIE_ALLOWED_HOSTS": "*.lambda-url.ap-northeast-1.on.aws",
}


DOCKERFILE = (DEPLOY / "Dockerfile.lambda").read_text("utf-8")


def command() -> list[str]:
    """The image's: the entry point of the usual one with the arguments of this one."""
    (arguments,) = re.findall(r"^CMD (.*)$", DOCKERFILE, re.MULTILINE)
    return [str(BIN / "chie"), *json.loads(arguments)]


@contextmanager
def environment(home: Path, **settings: str) -> Iterator[LambdaRuntimeApi]:
    """One execution environment: its own process and its own disk."""
    with LambdaRuntimeApi() as api:
        variables = os.environ | {"CHIE_HOME": str(home), "AWS_LAMBDA_RUNTIME_API": api.address} | settings
        process = subprocess.Popen(command(), env=variables)
        try:
            yield api
        finally:
            process.kill()
            process.wait()


@pytest.mark.req("CH-4", "CH-9", "CH-12")
def test_aws_agent_answers_in_a_stream_and_the_session_is_in_postgres(tmp_path: Path, postgres: str) -> None:
    database = {"CHIE_DATABASE_URL": new_database(postgres)}
    note = {"content": "デプロイの手順は runbook にある"}
    search = use(Use("search_knowledge", '{"query": "デプロイ"}'), text="調べます。")
    with ConverseServer(search, say("手順は", "runbook にあります。")) as model:
        settings = {**SETTINGS, **database, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.address}
        with environment(tmp_path / "first", **settings) as api:
            assert api.invoke(event("POST", "/api/knowledge", note)).prelude()["statusCode"] == 201
            body = {"message": "デプロイの手順は？", "agent_id": "aws"}
            asked = api.invoke(event("POST", "/api/chat/stream", body))
            prelude = asked.prelude()
            chunks = list(asked.rest())
        assert "runbook" in model.results(model.seen[1])[0][1]
        with environment(tmp_path / "second", **settings) as api:
            session = api.invoke(event("GET", f"/api/sessions/{prelude['headers']['x-chie-session']}"))
            assert session.prelude()["statusCode"] == 200
            answer = session.json()["messages"][1]
    assert asked.headers["lambda-runtime-function-response-mode"] == "streaming"
    assert asked.headers["transfer-encoding"] == "chunked"
    assert asked.headers["content-type"] == "application/vnd.awslambda.http-integration-response"
    assert (prelude["statusCode"], prelude["headers"]["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert len(chunks) > 1, "the events were sent one after another"
    events = parse(b"".join(chunks).decode())
    assert [one.event for one in events if one.event.startswith("tool")] == ["tool_call", "tool_result"]
    assert (texts(events), events[-1].event) == ("調べます。\n\n手順はrunbook にあります。", "done")
    assert (answer["status"], answer["content"]) == ("complete", texts(events))


@pytest.mark.req("CH-4", "CH-9")
def test_text_arrives_while_the_model_is_still_answering(tmp_path: Path) -> None:
    with ConverseServer(Stall("途中まで")) as model:
        settings = {**SETTINGS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.address}
        with environment(tmp_path, **settings) as api:
            asked = api.invoke(event("POST", "/api/chat/stream", {"message": "x", "agent_id": "aws"}))
            asked.prelude()
            (first,) = parse(next(asked.rest()).decode())
    assert first.text == "途中まで"


@pytest.mark.req("CH-4")
def test_requests_are_passed_on_as_they_were_sent(tmp_path: Path) -> None:
    with environment(tmp_path, **SETTINGS) as api:
        encoded = b64encode(json.dumps({"content": "符号化された本文"}).encode()).decode()
        saved = api.invoke(event("POST", "/api/knowledge", body=None) | {"body": encoded, "isBase64Encoded": True})
        assert saved.prelude()["statusCode"] == 201
        note = saved.json()["id"]
        found = api.invoke(event("GET", "/api/knowledge/search", query=f"q={quote('本文')}&limit=3"))
        assert found.prelude()["statusCode"] == 200
        assert [hit["hit"]["id"] for hit in found.json()["hits"]] == [note]
        missing = api.invoke(event("GET", "/api/sessions/%E6%99%82%E8%A8%88"))
        assert missing.prelude()["statusCode"] == 404
        assert missing.json()["code"] == "sessions.session_not_found"
        cleared = api.invoke(event("POST", "/api/logout", cookies=["chie_token=x", "theme=dark"]))
        head = cleared.prelude()
        assert (head["statusCode"], len(head["cookies"])) == (204, 1)
        assert "chie_token=" in head["cookies"][0]
        assert "set-cookie" not in head["headers"]
        assert list(cleared.rest()) == []
        other = event("GET", "/api/agents")
        other["headers"]["host"] = "evil.example"
        assert api.invoke(other).prelude()["statusCode"] == 421
        page = api.invoke(event("GET", "/"))
        assert page.prelude()["headers"]["content-type"].startswith("text/html")


def stored_answer(api: LambdaRuntimeApi, session: str) -> dict[str, Any]:
    found = api.invoke(event("GET", f"/api/sessions/{session}"))
    assert found.prelude()["statusCode"] == 200
    answer: dict[str, Any] = found.json()["messages"][1]
    return answer


@pytest.mark.req("CH-4")
def test_response_that_lambda_ends_early_is_followed_by_the_next_one(tmp_path: Path) -> None:
    """Far more events than may wait for Lambda to read them."""
    words = [f"{number} " for number in range(1_000)]
    with ConverseServer(say(*words)) as model:
        settings = {**SETTINGS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model.address}
        with environment(tmp_path, **settings) as api:
            asked = api.invoke(event("POST", "/api/chat/stream", {"message": "x", "agent_id": "aws"}), limit=2)
            session = asked.prelude()["headers"]["x-chie-session"]
            assert len(list(asked.rest())) == 1
            while (answer := stored_answer(api, session))["status"] == "streaming":
                pass
    assert answer["content"] == "".join(words)


@pytest.mark.req("CH-4")
def test_other_event_is_an_error_and_the_next_one_is_served(tmp_path: Path) -> None:
    with environment(tmp_path, **SETTINGS) as api:
        scheduled = api.invoke({"source": "aws.events", "detail": {}})
        error = json.loads(b"".join(scheduled.rest()))
        assert scheduled.path.endswith("/error")
        assert error["errorMessage"].startswith("The event is not an HTTP request of a function URL.")
        assert api.invoke(event("GET", "/health")).prelude()["statusCode"] == 200


@pytest.mark.req("CH-4")
def test_function_without_authentication_does_not_start(tmp_path: Path) -> None:
    open_to_all = {name: value for name, value in SETTINGS.items() if not name.startswith("CHIE_")}
    with environment(tmp_path, **open_to_all) as api:
        error = api.init_errors.get()
    assert error["errorType"] == "ConfigurationError"
    assert error["errorMessage"].startswith("Refusing to listen on AWS Lambda:")


def test_flag_outside_lambda_is_explained(tmp_path: Path) -> None:
    variables = os.environ | {"CHIE_HOME": str(tmp_path)}
    done = subprocess.run(command(), env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: `AWS_LAMBDA_RUNTIME_API` is not set")


def test_page_and_image_use_these_settings() -> None:
    page = (ROOT / "docs" / "lambda.md").read_text("utf-8")
    assert fnmatchcase(HOST, SETTINGS["CHIE_ALLOWED_HOSTS"])
    assert "CHIE_ALLOWED_HOSTS=*.lambda-url.$REGION.on.aws" in page
    assert "--invoke-mode RESPONSE_STREAM" in page
    assert {"CHIE_DATABASE_URL", "CHIE_AWS_MODEL"} <= set(re.findall(r"\b(CHIE_\w+)=", page))
    assert "CHIE_HOME=/tmp/" in DOCKERFILE, "the only folder that a function can write to"
