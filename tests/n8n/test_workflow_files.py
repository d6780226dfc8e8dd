"""Workflow files: only from allowed folders, and every kind of invalid file has its own error."""

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.n8n.caller import Caller, order_flow

from chie.n8n.errors import ValidationError
from chie.n8n.workflow_files import AllowedFolders

FLOW = {"name": "流れ", "nodes": [], "connections": {}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "allowed"
    root.mkdir()
    return root


def error_of(root: Path, path: str | Path) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        AllowedFolders([root]).read_blocking(str(path))
    return caught.value


def test_byte_order_mark_is_optional(root: Path) -> None:
    text = json.dumps(FLOW, ensure_ascii=False)
    (root / "plain.json").write_text(text, encoding="utf-8")
    (root / "marked.json").write_text(text, encoding="utf-8-sig")
    assert AllowedFolders([root]).read_blocking(str(root / "plain.json")) == FLOW
    assert AllowedFolders([root]).read_blocking(str(root / "marked.json")) == FLOW


def test_relative_path_starts_in_the_working_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "flow.json").write_text(json.dumps(FLOW), encoding="utf-8")
    monkeypatch.chdir(root)
    assert AllowedFolders([root]).read_blocking("flow.json") == FLOW


def test_nothing_outside_is_read_even_through_dots_or_links(root: Path) -> None:
    outside = root.parent / "secret.json"
    outside.write_text(json.dumps(FLOW), encoding="utf-8")
    (root / "link.json").symlink_to(outside)
    for path in (outside, root / ".." / "secret.json", root / "link.json", "/etc/passwd"):
        error = error_of(root, path)
        assert error.code == "n8n.file_outside_allowed_folders"
        assert "secret.json" not in str(error.details())


def test_no_file_is_read_without_allowed_folders(root: Path) -> None:
    with pytest.raises(ValidationError, match="N8N_FILE_ROOTS"):
        AllowedFolders([]).read_blocking(str(root / "flow.json"))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{not json", "not_json"),
        (b"\xff\xfe\x00", "not_utf8"),
        (b"[]", "not_workflow"),
        (b'{"nodes": [], "connections": {}}', "field_invalid"),
        (b'{"name": "x", "nodes": {}, "connections": {}}', "field_invalid"),
        (b'{"name": "x", "nodes": [], "connections": []}', "field_invalid"),
        (b'{"name": "x", "nodes": [], "connections": {}, "settings": []}', "settings_invalid"),
    ],
)
def test_every_invalid_content_has_its_own_error(root: Path, content: bytes, code: str) -> None:
    (root / "flow.json").write_bytes(content)
    assert error_of(root, root / "flow.json").code == f"n8n.file_{code}"


def test_missing_files_folders_and_invalid_paths_have_their_own_errors(root: Path) -> None:
    assert error_of(root, root / "none.json").code == "n8n.file_not_found"
    assert error_of(root, root).code == "n8n.file_is_folder"
    assert error_of(root, "a\0b").code == "n8n.file_path_invalid"


@pytest.mark.parametrize(
    ("tool", "more"), [("create_workflow_from_file", {}), ("replace_workflow_from_file", {"id": "wf"})]
)
async def test_pipes_and_sockets_are_refused_at_once(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, more: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("パイプ.json")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket.json")
        for name in ("パイプ.json", "socket.json"):
            assert (await call(tool, filePath=name, **more)).code == "n8n.file_not_regular"


def test_pipe_that_takes_the_place_of_a_file_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "flow.json"
    path.write_text(json.dumps(FLOW), encoding="utf-8")
    found = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda *_, **__: found)
    assert error_of(root, path).code == "n8n.file_not_regular"


async def test_files_are_read_off_the_event_loop(call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    read = AllowedFolders.read_blocking

    def recorded(folders: AllowedFolders, file_path: str) -> dict[str, Any]:
        threads.add(threading.get_ident())
        return read(folders, file_path)

    monkeypatch.setattr(AllowedFolders, "read_blocking", recorded)
    (tmp_path / "flow.json").write_text(json.dumps(order_flow()), encoding="utf-8")
    assert (await call("create_workflow_from_file", filePath=str(tmp_path / "flow.json"))).data["id"]
    assert threads
    assert threading.get_ident() not in threads


def test_file_over_the_size_limit_is_not_read(root: Path) -> None:
    with (root / "big.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert error_of(root, root / "big.json").code == "n8n.file_too_large"
