"""The audit log of writes: user, time, kind and id, never the content."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chie import files
from chie.access.audit import record
from chie.access.identity import User, acting_as


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_line_has_user_time_kind_and_id(home: Path) -> None:
    with acting_as(User("日向")):
        record("note.deleted", "k-1")
    (line,) = lines(home / "audit.log")
    assert (line["user"], line["kind"], line["id"], line["outcome"]) == ("日向", "note.deleted", "k-1", "done")
    assert set(line) == {"time", "user", "kind", "id", "outcome", "request"}
    assert stat.S_IMODE((home / "audit.log").stat().st_mode) == 0o600


def test_large_log_is_rotated_and_old_files_are_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LOG_BYTES", 400)
    for number in range(40):
        record("note.created", f"k-{number}")
    kept = sorted(home.glob("audit.log*"), key=lambda path: path.name)
    assert [path.name for path in kept if path.suffix != ".lock"] == [
        "audit.log", *(f"audit.log.{number}" for number in range(1, files.ROTATED_FILES + 1))
    ]  # fmt: skip
    assert lines(home / "audit.log")[-1]["id"] == "k-39"
    assert all(path.stat().st_size <= 400 for path in kept)


def test_concurrent_writers_write_whole_lines(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: record("note.created", f"k-{number}"), range(100)))
    assert {line["id"] for line in lines(home / "audit.log")} == {f"k-{number}" for number in range(100)}


def test_log_to_stderr(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CHIE_AUDIT_LOG", "-")
    record("note.created", "k-1")
    assert json.loads(capsys.readouterr().err)["id"] == "k-1"
    assert not (home / "audit.log").exists()


def test_unwritable_log_is_reported_and_does_not_fail_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHIE_AUDIT_LOG", str(tmp_path / "file" / "audit.log"))
    record("note.created", "k-1")
    assert "cannot write the audit log" in caplog.text
    assert "k-1" in caplog.text
