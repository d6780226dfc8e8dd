"""`chie sessions import`, also after it was killed half-way."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.chat.imports import exports

from chie.cli import main

pytestmark = pytest.mark.req("AG-12")


def write_export(folder: Path, count: int) -> Path:
    def numbered(number: int) -> dict[str, object]:
        return exports.claude_2026() | {"uuid": f"c-{number}", "name": f"会話 {number}"}

    path = folder / "conversations.json"
    path.write_bytes(exports.as_json(*map(numbered, range(count))))
    return path


def stored(home: Path, table: str) -> int:
    try:
        with closing(sqlite3.connect(f"file:{home}/chie.db?mode=ro", uri=True)) as connection:
            found: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            return found
    except sqlite3.OperationalError:  # not created yet
        return 0


def test_export_is_imported_for_a_user_and_reports_what_was_skipped(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    broken = {"title": "壊れた会話", "id": "x", "mapping": 5}
    path.write_bytes(exports.as_zip({"conversations.json": exports.as_json(exports.chatgpt_2023(), broken)}))
    planned = CliRunner().invoke(main, ["sessions", "import", str(path), "--dry-run", "--user", "aki"])
    assert "Would import 1 new conversations" in planned.output
    assert stored(home, "sessions") == 0
    done = CliRunner().invoke(main, ["sessions", "import", str(path), "--user", "aki"])
    assert (done.exit_code, done.stderr) == (0, "Skipped “壊れた会話”: It is damaged. Export it again to import it.\n")
    assert done.stdout.startswith("1 new conversations, 0 extended, 0 already there; 5 messages imported")
    with closing(sqlite3.connect(home / "chie.db")) as connection:
        assert connection.execute("SELECT user_id, title FROM sessions").fetchall() == [("aki", "nginx の障害")]
    refused = CliRunner().invoke(main, ["sessions", "import", __file__])
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: This is no export of ChatGPT or Claude.")


def test_import_that_was_killed_is_completed_by_repeating_it(home: Path, tmp_path: Path) -> None:
    path = write_export(tmp_path, 1_500)
    command = [sys.executable, "-m", "chie", "sessions", "import", str(path)]
    process = subprocess.Popen(command, env={**os.environ, "CHIE_HOME": str(home)}, stdout=subprocess.DEVNULL)
    while stored(home, "sessions") == 0:
        assert process.poll() in (None, 0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = stored(home, "sessions")
    assert stored(home, "messages") == 3 * before, "whole conversations only"
    done = CliRunner().invoke(main, ["sessions", "import", str(path)])
    assert f"{1_500 - before:,} new conversations, 0 extended, {before:,} already there" in done.output
    assert (stored(home, "sessions"), stored(home, "messages")) == (1_500, 4_500)
    with closing(sqlite3.connect(home / "chie.db")) as connection:
        titles = {json.dumps(title) for (title,) in connection.execute("SELECT title FROM sessions")}
    assert len(titles) == 1_500
