"""Workflow files: only from allowed folders, and each fault has its own sentence."""

import json
from pathlib import Path

import pytest

from chie.n8n.errors import ValidationError
from chie.n8n.files import Folders

FLOW = {"name": "流れ", "nodes": [], "connections": {}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "allowed"
    root.mkdir()
    return root


def fault(root: Path, path: str | Path) -> str:
    with pytest.raises(ValidationError) as refused:
        Folders([root]).read(str(path))
    return refused.value.message


def test_a_workflow_is_read_with_or_without_a_byte_order_mark(root: Path) -> None:
    text = json.dumps(FLOW, ensure_ascii=False)
    (root / "plain.json").write_text(text, encoding="utf-8")
    (root / "marked.json").write_text(text, encoding="utf-8-sig")
    assert Folders([root]).read(str(root / "plain.json")) == FLOW
    assert Folders([root]).read(str(root / "marked.json")) == FLOW


def test_a_relative_path_starts_where_the_server_was_started(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "flow.json").write_text(json.dumps(FLOW), encoding="utf-8")
    monkeypatch.chdir(root)
    assert Folders([root]).read("flow.json") == FLOW


def test_nothing_outside_is_read_not_even_through_dots_or_links(root: Path) -> None:
    outside = root.parent / "secret.json"
    outside.write_text(json.dumps(FLOW), encoding="utf-8")
    (root / "link.json").symlink_to(outside)
    for path in (outside, root / ".." / "secret.json", root / "link.json", "/etc/passwd"):
        message = fault(root, path)
        assert "outside the allowed folders" in message
        assert "secret.json" not in message


def test_without_folders_no_file_is_read(root: Path) -> None:
    with pytest.raises(ValidationError, match="N8N_FILE_ROOTS"):
        Folders([]).read(str(root / "flow.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{not json", "is not JSON"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"[]", "does not hold one workflow"),
        (b'{"nodes": [], "connections": {}}', "name must be a text"),
        (b'{"name": "x", "nodes": {}, "connections": {}}', "nodes must be a list"),
        (b'{"name": "x", "nodes": [], "connections": []}', "connections must be an object"),
        (b'{"name": "x", "nodes": [], "connections": {}, "settings": []}', "settings in the file must be an object"),
    ],
)
def test_what_is_no_workflow_is_told_apart(root: Path, content: bytes, message: str) -> None:
    (root / "flow.json").write_bytes(content)
    assert message in fault(root, root / "flow.json")


def test_missing_files_folders_and_impossible_paths_are_told_apart(root: Path) -> None:
    assert "no such file" in fault(root, root / "none.json")
    assert "it is a folder" in fault(root, root)
    assert "not a path" in fault(root, "a\0b")


def test_a_file_over_the_limit_is_not_read(root: Path) -> None:
    with (root / "big.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert "larger than 16 MB" in fault(root, root / "big.json")
