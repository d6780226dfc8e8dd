"""Workflow files: only from allowed folders, and every kind of invalid file has its own error."""

import json
from pathlib import Path

import pytest

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
        AllowedFolders([root]).read(str(path))
    return caught.value


def test_byte_order_mark_is_optional(root: Path) -> None:
    text = json.dumps(FLOW, ensure_ascii=False)
    (root / "plain.json").write_text(text, encoding="utf-8")
    (root / "marked.json").write_text(text, encoding="utf-8-sig")
    assert AllowedFolders([root]).read(str(root / "plain.json")) == FLOW
    assert AllowedFolders([root]).read(str(root / "marked.json")) == FLOW


def test_relative_path_starts_in_the_working_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "flow.json").write_text(json.dumps(FLOW), encoding="utf-8")
    monkeypatch.chdir(root)
    assert AllowedFolders([root]).read("flow.json") == FLOW


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
        AllowedFolders([]).read(str(root / "flow.json"))


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


def test_file_over_the_size_limit_is_not_read(root: Path) -> None:
    with (root / "big.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert error_of(root, root / "big.json").code == "n8n.file_too_large"
