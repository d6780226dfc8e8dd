"""What is written down about writes: who, when, what kind, which id; never what it says."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chie.access import audit
from chie.access.audit import record
from chie.access.identity import User, acting_as


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_says_who_when_what_and_which(home: Path) -> None:
    with acting_as(User("日向")):
        record("note.deleted", "k-1")
    (line,) = lines(home / "audit.log")
    assert (line["user"], line["kind"], line["id"], line["outcome"]) == ("日向", "note.deleted", "k-1", "done")
    assert set(line) == {"time", "user", "kind", "id", "outcome", "request"}
    assert stat.S_IMODE((home / "audit.log").stat().st_mode) == 0o600


def test_a_long_log_is_turned_over_and_old_ones_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "LARGEST", 400)
    for number in range(40):
        record("note.created", f"k-{number}")
    kept = sorted(home.glob("audit.log*"), key=lambda path: path.name)
    assert [path.name for path in kept if path.suffix != ".lock"] == [
        "audit.log", *(f"audit.log.{number}" for number in range(1, audit.KEPT + 1))
    ]  # fmt: skip
    assert lines(home / "audit.log")[-1]["id"] == "k-39"
    assert all(path.stat().st_size <= 400 for path in kept)


def test_writers_at_once_write_whole_lines(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: record("note.created", f"k-{number}"), range(100)))
    assert {line["id"] for line in lines(home / "audit.log")} == {f"k-{number}" for number in range(100)}


def test_it_can_go_to_standard_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHIE_AUDIT_LOG", "-")
    record("note.created", "k-1")
    assert json.loads(capsys.readouterr().err)["id"] == "k-1"
    assert not (home / "audit.log").exists()


def test_a_log_that_cannot_be_written_stops_no_work_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHIE_AUDIT_LOG", str(tmp_path / "file" / "audit.log"))
    record("note.created", "k-1")
    assert "cannot be written" in caplog.text
    assert "k-1" in caplog.text
