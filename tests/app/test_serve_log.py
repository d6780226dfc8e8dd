"""The log that `chie serve` writes by default: requests, the choice of an agent, and tool calls."""

import json
import logging
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.app.processes import BIN
from tests.fakes import patient

from chie import files
from chie.logging import configure

QUESTION = "合言葉は何ですか swordfish"


@contextmanager
def serving(output: Path, *options: str) -> Iterator[str]:
    """The URL of `chie serve`; `output` gets all that it prints."""
    with output.open("w", encoding="utf-8") as file:
        command = [str(BIN / "chie"), "serve", "--port", "0", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, encoding="utf-8")
        assert process.stdout
        line = process.stdout.readline()
        try:
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            process.terminate()
            rest, _ = process.communicate(timeout=60)
            if output.is_file():
                file.write(line + rest)


def records(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.req("CH-14")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_serve_logs_requests_agents_and_tools_to_a_private_file(home: Path, tmp_path: Path, workers: str) -> None:
    with serving(tmp_path / "terminal", "--workers", workers) as url:
        for _ in range(3):
            asked = patient.post(f"{url}/api/chat/stream", json={"message": QUESTION, "agent_id": "notes"})
            assert "search_knowledge" in asked.text
        token = {"authorization": "Bearer swordfish-token"}
        patient.get(f"{url}/api/sessions", params={"query": QUESTION}, headers=token)
    log = home / "logs" / "chie.log"
    messages = [record["message"] for record in records(log)]
    assert len([text for text in messages if text.startswith("agent notes answers message ")]) == 3
    assert len([text for text in messages if text.startswith("POST /api/chat/stream 200 in ")]) == 3
    assert len([text for text in messages if text.startswith("tool search_knowledge of knowledge ran in ")]) == 3
    assert any(text.startswith("GET /api/sessions ") for text in messages)
    requests = {record["request"] for record in records(log) if record["message"].startswith("agent notes answers")}
    assert len(requests - {"-"}) == 3
    assert "swordfish" not in log.read_text(encoding="utf-8")
    assert "合言葉" not in log.read_text(encoding="utf-8")
    terminal = (tmp_path / "terminal").read_text(encoding="utf-8")
    assert terminal.count("\n") == 1, "only the address"
    assert terminal.startswith("Chie is running at ")
    if os.name == "posix":
        assert (log.parent.stat().st_mode & 0o777, log.stat().st_mode & 0o777) == (0o700, 0o600)
    assert sorted(file.name for file in log.parent.iterdir()) == ["chie.log"], "no n8n.log: n8n is not configured"


@pytest.mark.req("CH-14")
def test_serve_starts_without_a_writable_log_folder(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "logs").write_text("a file where a folder should be", encoding="utf-8")
    with serving(tmp_path / "terminal") as url:
        assert patient.get(f"{url}/health").status_code == 200
    assert "cannot log to" in (tmp_path / "terminal").read_text(encoding="utf-8")


@pytest.mark.req("CH-14")
def test_full_log_is_rotated_without_losing_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LOG_BYTES", 60_000)
    log = tmp_path / "logs" / "chie.log"
    configure(activity=log)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: logging.getLogger("chie.test").info("line %d", number), range(2_000)))
        logging.getLogger("other").info("a library's line")
    finally:
        configure()
    kept = [file for file in log.parent.glob("chie.log*") if file.suffix != ".lock"]
    assert len(kept) > 1
    assert all(file.stat().st_size <= 60_000 for file in kept)
    assert {record["message"] for file in kept for record in records(file)} == {f"line {n}" for n in range(2_000)}


@pytest.mark.parametrize("rotate", [True, False])
def test_file_in_place_of_the_terminal_is_rotated_on_request(
    rotate: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`chie serve` asks for it; an MCP server that runs alone does not."""
    monkeypatch.setattr(files, "MAX_LOG_BYTES", 1_000)
    log = tmp_path / "service.log"
    configure("info", log, rotate=rotate)
    try:
        for number in range(20):
            logging.getLogger("chie.test").info("line %d", number)
    finally:
        configure()
    assert (log.with_name("service.log.1").exists(), log.stat().st_size > 1_000) == (rotate, not rotate)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("audit", ["-", "/dev/full"])  # standard error, and a file
def test_full_disk_under_the_logs_and_stderr_fails_no_request(
    home: Path, monkeypatch: pytest.MonkeyPatch, audit: str
) -> None:
    """They are often on the disk of `CHIE_HOME`."""
    monkeypatch.setenv("CHIE_AUDIT_LOG", audit)
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "chie.log").symlink_to("/dev/full")
    with serving(Path("/dev/full"), "--log-level", "info") as url:
        for path in ("/health", "/api/knowledge", "/nothing", "/health"):
            assert httpx2.get(url + path).status_code == (404 if path == "/nothing" else 200)
        assert httpx2.post(f"{url}/api/knowledge", json={"content": "kept"}).status_code == 201
