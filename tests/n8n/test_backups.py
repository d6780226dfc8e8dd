"""Backups: written before any change, private, newest first, limited in number."""

import logging
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, order_flow

from chie.errors import StorageError
from chie.n8n.backups import Backups
from chie.n8n.errors import NotFoundError, ValidationError

FLOW = {"id": "abc", "name": "流れ", "nodes": [{"name": "A"}]}


def ticking() -> Iterator[datetime]:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    while True:
        yield moment
        moment += timedelta(microseconds=1)


@pytest.fixture
def backups(tmp_path: Path) -> Backups:
    clock = ticking()
    return Backups(tmp_path / "backups", keep=3, clock=lambda: next(clock))


def test_backup_can_be_listed_and_read(backups: Backups) -> None:
    name = backups.write(FLOW, "update")
    (listed,) = backups.list()
    assert (listed.backup, listed.id, listed.name, listed.reason, listed.nodes) == (name, "abc", "流れ", "update", 1)
    assert backups.read(name) == FLOW


def test_backup_is_readable_only_by_the_owner(backups: Backups) -> None:
    file = backups.folder / backups.write(FLOW, "update")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_oldest_backups_are_deleted_and_the_newest_are_listed_first(backups: Backups) -> None:
    names = [backups.write(FLOW, "update") for _ in range(5)]
    other = backups.write({**FLOW, "id": "other"}, "delete")
    assert [listed.backup for listed in backups.list("abc")] == names[:1:-1]
    assert next(iter(backups.list())).backup == other


@pytest.mark.parametrize("name", ["../../etc/passwd", "abc/../x.json", "/etc/passwd", "", "abc/x.json"])
def test_invalid_name_is_rejected(backups: Backups, name: str) -> None:
    with pytest.raises(ValidationError, match="list_backups"):
        backups.read(name)


def test_deleted_backup_is_not_found(backups: Backups) -> None:
    name = backups.write(FLOW, "update")
    (backups.folder / name).unlink()
    with pytest.raises(NotFoundError):
        backups.read(name)


def test_broken_backup_is_a_storage_error(backups: Backups) -> None:
    name = backups.write(FLOW, "update")
    (backups.folder / name).write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match="Choose another"):
        backups.read(name)


@pytest.mark.parametrize("content", ['{"id": "abc", "na', "[]", "null", "{}", b"\xff"])
def test_broken_backup_is_skipped_and_logged(
    backups: Backups, caplog: pytest.LogCaptureFixture, content: str | bytes
) -> None:
    old, broken, new = (backups.write(FLOW, "update") for _ in range(3))
    (backups.folder / broken).write_bytes(content if isinstance(content, bytes) else content.encode())
    with caplog.at_level(logging.WARNING):
        assert [listed.backup for listed in backups.list()] == [new, old]
    assert broken in caplog.text
    with pytest.raises(StorageError, match="Choose another"):
        backups.read(broken)


def test_backup_deleted_while_listing_is_skipped(backups: Backups) -> None:
    old, new = (backups.write(FLOW, "update") for _ in range(2))
    listing = backups.list()
    assert next(listing).backup == new
    (backups.folder / old).unlink()
    assert list(listing) == []


def test_file_without_a_date_in_its_name_is_ignored(backups: Backups) -> None:
    name = backups.write(FLOW, "update")
    (backups.folder / "abc" / "20261399T000000000000Z-update.json").write_text("{}", encoding="utf-8")
    assert [listed.backup for listed in backups.list()] == [name]


def test_failed_write_leaves_no_file(backups: Backups, monkeypatch: pytest.MonkeyPatch) -> None:
    name = backups.write(FLOW, "update")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="so nothing was changed"):
        backups.write(FLOW, "update")
    assert [str(file.relative_to(backups.folder)) for file in backups.folder.rglob("*.*")] == [name]


def test_backup_gets_its_name_only_when_complete(backups: Backups, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process cannot clean up: its partial file must not look like a backup."""
    seen: list[list[Path]] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(list(backups.folder.rglob("*.json"))))
    backups.write(FLOW, "update")
    assert seen == [[]]


def test_backup_written_after_the_clock_was_set_back_is_the_newest(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    moments = iter([moment, moment + timedelta(seconds=1), moment - timedelta(hours=1), moment - timedelta(hours=1)])
    backups = Backups(tmp_path / "backups", keep=2, clock=lambda: next(moments))
    names = [backups.write({**FLOW, "name": str(number)}, "update") for number in range(4)]
    assert [listed.backup for listed in backups.list()] == [names[3], names[2]]
    assert [listed.name for listed in backups.list()] == ["3", "2"]


def test_id_that_would_leave_the_folder_is_rejected(backups: Backups) -> None:
    with pytest.raises(StorageError, match="nothing was changed"):
        backups.write({**FLOW, "id": "../../x"}, "update")


async def test_every_page_of_backups_is_reachable(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    for number in range(5):
        await call("update_workflow", id=workflow["id"], name=f"名前 {number}")
    seen: list[str] = []
    page = (await call("list_backups", limit=2)).data
    while True:
        seen += [row["name"] for row in page["backups"]]
        if not page["hasMore"]:
            break
        page = (await call("list_backups", limit=2, cursor=page["nextCursor"])).data
    assert seen == ["名前 3", "名前 2", "名前 1", "名前 0", "注文 flow"]


async def test_nothing_is_changed_without_a_backup(call: Caller, fake: FakeN8n, tmp_path: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    (tmp_path / "backups").write_text("a file where the folder should be", encoding="utf-8")
    for tool, arguments in (("update_workflow", {"name": "x"}), ("delete_workflow", {})):
        answer = await call(tool, id=workflow["id"], **arguments)
        assert "so nothing was changed" in answer.error
    assert [seen.method for seen in fake.seen] == ["GET", "GET"]
