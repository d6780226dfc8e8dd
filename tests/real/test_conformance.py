"""The official conformance suite: our kit passes all that a revision requires, our servers what their baselines say."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.app.processes import http_server
from tests.fakes.bedrock import serving
from tests.fakes.n8n import KEY, FakeN8n
from tests.real.clients import BIN, run

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
BASELINES = Path(__file__).with_name("baselines")
REVISIONS = ["2025-11-25", "2026-07-28"]
SERVERS = ["knowledge", "bedrock-kb", "n8n"]
_LINE = re.compile(r"^[✓✗] (?P<scenario>\S+): (?P<passed>\d+) passed, (?P<failed>\d+) failed$", re.MULTILINE)


def judge(address: str, revision: str, home: Path, *options: str) -> str:
    words = ("server", "--url", f"{address}/mcp", "--requirements", revision, *options)
    return run("conformance", *words, home=home, check=False, seconds=240)


def required(revision: str) -> set[str]:
    file = BIN.parent / "@modelcontextprotocol" / "conformance" / "requirements" / f"{revision}.yaml"
    return set(yaml.safe_load(file.read_text(encoding="utf-8"))["server"])


@contextmanager
def fixture_server() -> Iterator[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.real.fixture_server"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    try:
        assert process.stdout
        yield process.stdout.readline().strip().removesuffix("/mcp")
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_kit_passes_every_scenario_that_is_required(tmp_path: Path, revision: str) -> None:
    with fixture_server() as address:
        output = judge(address, revision, tmp_path / "c")
    results = {found["scenario"]: found for found in _LINE.finditer(output)}
    wanted = required(revision)
    assert len(wanted) >= 30
    assert wanted - set(results) == set(), output[-3000:]
    assert {one for one in wanted if int(results[one]["failed"])} == set(), output[-3000:]
    assert {one for one in wanted if not int(results[one]["passed"])} == set(), output[-3000:]


@contextmanager
def ours(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    with FakeN8n(2) as n8n, serving() as bedrock:
        monkeypatch.setenv("N8N_URL", n8n.url)
        monkeypatch.setenv("N8N_API_KEY", KEY)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("BEDROCK_KB_ID", "KB12345678")
        monkeypatch.setenv("BEDROCK_MODEL_ARN", "model")
        with http_server("chie", "mcp", server, "--http", "--log-file", str(tmp_path / "log")) as address:
            yield address


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("server", SERVERS)
def test_our_servers_fail_what_their_baseline_names_and_no_more(
    server: str, revision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Most scenarios need tools of the suite's own; the baseline names those, so anything else is a regression."""
    baseline = BASELINES / f"{server}-{revision}.yml"
    with ours(server, monkeypatch, tmp_path) as address:
        output = judge(address, revision, tmp_path / "c", "--expected-failures", str(baseline))
    assert "Unexpected failures" not in output, output[-3000:]
    assert "dns-rebinding-protection: 2 passed, 0 failed" in output
    listed = set(yaml.safe_load(baseline.read_text(encoding="utf-8"))["server"])
    assert not listed & {"tools-list", "resources-list", "prompts-list", "ping", "caching", "server-initialize"}
