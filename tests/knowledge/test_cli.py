"""`chie notes`, as a person types it."""

import json
import shlex
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fastmcp import Client

from chie import __version__
from chie.cli import main
from chie.installation.commands import followable
from chie.knowledge.note import Note
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.settings import load


def chie(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def saved_id(result: Result) -> str:
    return result.output.split()[1]


def test_the_version() -> None:
    assert chie("--version").output == f"chie, version {__version__}\n"


def test_save_search_show_and_delete() -> None:
    saved = chie("notes", "save", "コンテナのログは docker logs で見る", "--tag", "docker", "--source", "wiki")
    note_id = saved_id(saved)
    found = chie("notes", "search", "container output")
    assert note_id in found.output
    assert "#docker" in found.output
    shown = chie("notes", "show", note_id)
    assert "コンテナのログは docker logs で見る" in shown.output
    assert "wiki" in shown.output
    assert chie("notes", "delete", note_id).output == f"Deleted {note_id}\n"
    assert "No note matches" in chie("notes", "search", "container output").output


def test_a_note_from_standard_input() -> None:
    note_id = saved_id(chie("notes", "save", "-", "--title", "題名", stdin="一行目\n二行目\n"))
    note = json.loads(chie("notes", "show", note_id, "--json").output)
    assert (note["title"], note["content"], note["origin"]) == ("題名", "一行目\n二行目", "person")


def test_similar_note_is_reported() -> None:
    chie("notes", "save", "never deploy on Friday afternoon")
    assert "similar to k-" in chie("notes", "save", "we never deploy on a Friday afternoon").output


def test_list_continues_at_the_cursor() -> None:
    for number in range(3):
        chie("notes", "save", f"note {number}")
    first = chie("notes", "list", "--limit", "2").output
    assert "note 2" in first
    cursor = first.split("--cursor ")[1].strip()
    assert "note 0" in chie("notes", "list", "--cursor", cursor).output
    assert len(json.loads(chie("notes", "list", "--json").output)["notes"]) == 3


def test_next_page_command_keeps_the_options() -> None:
    for number in range(3):
        chie("notes", "save", f"note {number}", "--tag", "it's mine")
    first = chie("notes", "list", "--limit", "1", "--tag", "it's mine").output
    more = shlex.split(first.split("More: chie ")[1])
    second = chie(*more).output
    assert "note 1" in second
    assert "note 0" not in second
    assert shlex.split(second.split("More: chie ")[1])[:-1] == more[:-1]


def test_list_has_no_upper_limit() -> None:
    with closing(create_store(load(KnowledgeSettings))) as store:
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        titles = [f"メモ {number}" for number in range(230)]
        dates = {title: moment + timedelta(minutes=number) for number, title in enumerate(titles)}
        store.put_copies(
            [Note(id=f"k-{t}", title=t, content=t, created_at=at, updated_at=at) for t, at in dates.items()]
        )
    newest_first = titles[::-1]
    listed = json.loads(chie("notes", "list", "--all", "--json").output)
    assert ([note["title"] for note in listed["notes"]], listed["next_cursor"]) == (newest_first, None)
    first = chie("notes", "list", "--limit", "150").output
    assert first.count("2026-01-01") == 150
    assert f"{newest_first[149]}\nMore: chie notes list --limit 150 --cursor" in first
    rest = chie(*shlex.split(first.split("More: chie ")[1])).output
    assert [line.split("  ")[2] for line in rest.splitlines()] == newest_first[150:]
    assert "must be between 1 and 100" in chie("notes", "list", "--limit", "0").output


def test_empty_list() -> None:
    assert chie("notes", "list").output == "No notes.\n"
    assert chie("notes", "list", "--tag", "x").output == "No notes with this tag.\n"
    assert json.loads(chie("notes", "list", "--json").output)["notes"] == []


async def test_json_output_equals_tool_results() -> None:
    note_id = saved_id(chie("notes", "save", "日付の形"))
    async with Client(create_server()) as client:
        reported = (await client.call_tool("get_knowledge", {"id": note_id})).structured_content
    assert json.loads(chie("notes", "show", note_id, "--json").output) == reported


def test_json_is_escaped_if_the_output_is_not_utf_8() -> None:
    saved = CliRunner(charset="cp1252").invoke(main, ["notes", "save", "失わない", "--json"])
    assert json.loads(saved.stdout_bytes)["title"] == "失わない"


@pytest.mark.parametrize("target", ["", " ", "vector-search", "postgres//typo", "postgresql", "."])
def test_ambiguous_migration_target_is_rejected(target: str) -> None:
    result = chie("notes", "migrate", "--to", target)
    assert result.exit_code == 1
    assert result.output.startswith("Error: `--to` is neither a URL nor a path.")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("target", ["copy.db", "./copy", "sqlite:///copy.db"])
def test_migration_to_a_file(target: str) -> None:
    chie("notes", "save", "引っ越すメモ")
    assert "1 notes copied" in chie("notes", "migrate", "--to", target).output


def test_export_and_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chie("notes", "save", "知恵の輪", "--tag", "遊び")
    before = chie("notes", "list", "--json").output
    assert "1 notes written" in chie("notes", "export", str(tmp_path / "out")).output
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "elsewhere"))
    assert "1 saved, 0 unchanged, 0 rejected" in chie("notes", "import", str(tmp_path / "out")).output
    assert chie("notes", "list", "--json").output == before
    (tmp_path / "out" / "empty.md").write_text("")
    again = chie("notes", "import", str(tmp_path / "out"))
    assert "0 saved, 1 unchanged, 1 rejected" in again.output
    assert "empty.md: content is required" in again.output
    assert again.exit_code == 1


def test_import_does_not_follow_symlinks_out_of_the_folder(tmp_path: Path) -> None:
    outside, vault = tmp_path / "outside", tmp_path / "vault"
    for folder in (outside, vault / ".hidden", vault / "サブ"):
        folder.mkdir(parents=True)
    (outside / "secret.md").write_text("password", encoding="utf-8")
    (vault / ".hidden" / "trash.md").write_text("deleted", encoding="utf-8")
    (vault / "手順.md").write_text("step one", encoding="utf-8")
    (vault / "link.md").symlink_to(outside / "secret.md")
    (vault / "サブ" / "途中.md").symlink_to(Path("..", "..", "outside", "secret.md"))
    (vault / "trash.md").symlink_to(vault / ".hidden" / "trash.md")
    (vault / "folder").symlink_to(outside)
    (tmp_path / "way").symlink_to(vault)  # the folder that was named may itself be a symlink
    imported = chie("notes", "import", str(tmp_path / "way"))
    assert imported.exit_code == 1
    assert "1 saved, 0 unchanged, 3 rejected" in imported.output
    for name in ("link.md", "途中.md", "trash.md"):
        assert f"{name}: The file is a symbolic link to a file outside the folder" in imported.output
    (note,) = json.loads(chie("notes", "list", "--json").output)["notes"]
    assert note["title"] == "手順"


def test_import_lists_notes_that_it_keeps(tmp_path: Path) -> None:
    (tmp_path / "手順.md").write_text("step one", encoding="utf-8")
    chie("notes", "import", str(tmp_path))
    (note,) = json.loads(chie("notes", "list", "--json").output)["notes"]
    with closing(create_store(load(KnowledgeSettings))) as store:
        KnowledgeService(store).update(note["id"], content="step one and two")
    again = chie("notes", "import", str(tmp_path))
    assert again.exit_code == 0
    assert "0 saved, 0 unchanged, 0 rejected" in again.output
    assert "1 kept: changed in Chie after these files. --overwrite replaces them:" in again.output
    assert str(tmp_path / "手順.md") in again.output
    assert "1 saved" in chie("notes", "import", "--overwrite", str(tmp_path)).output


def test_export_lists_files_that_it_keeps(tmp_path: Path) -> None:
    for title in ("kept", "消える"):
        chie("notes", "save", "本文", "--title", title)
    chie("notes", "export", str(tmp_path))
    [gone] = tmp_path.glob("消える-*.md")
    chie("notes", "delete", gone.stem.removeprefix("消える-"))
    again = chie("notes", "export", str(tmp_path)).output
    assert f"1 notes written to {tmp_path}" in again
    assert "1 files of earlier exports were kept" in again
    assert f"  {gone}\n" in again


def test_tilde_in_a_migration_target_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    chie("notes", "save", "知恵の輪")
    out = chie("notes", "migrate", "--to=~/there.db")
    assert f"set CHIE_DATABASE_URL to sqlite:///{tmp_path / 'there.db'} and restart Chie" in out.output
    monkeypatch.setenv("CHIE_DATABASE_URL", f"sqlite:///{tmp_path / 'there.db'}")
    assert "知恵の輪" in chie("notes", "list").output
    assert not (tmp_path / "~").exists()
    again = chie("notes", "migrate", "--to=~/there.db")
    assert "The notes are already stored there." in again.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("notes", "show", "k-0"), "Error: No note has this id. `chie notes list` shows the existing ids."),
        (("notes", "delete", "k-0"), "Error: No note has this id. `chie notes list` shows the existing ids."),
        (("notes", "save", " "), "Error: content is required"),
        (("notes", "search", ""), "Error: query is required"),
        (("notes", "search", "x", "--limit", "0"), "Error: `limit` must be between 1 and 100"),
        (("notes", "import", "/nowhere"), "Error: /nowhere is not a folder"),
        (("serve", "--host", "0.0.0.0"), "Error: Refusing to listen on 0.0.0.0"),  # noqa: S104
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = chie(*arguments)
    assert result.exit_code == 1
    assert result.output.startswith(followable(message))
    assert result.output.count("\n") == 1


def test_invalid_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from pydantic_settings import BaseSettings, SettingsConfigDict

    from chie.errors import ConfigurationError
    from chie.settings import load

    class Settings(BaseSettings):
        model_config = SettingsConfigDict(env_prefix="CHIE_")
        size: int = 1

    monkeypatch.setenv("CHIE_SIZE", "large-and-secret")
    with pytest.raises(ConfigurationError, match="Wrong value for CHIE_SIZE") as error:
        load(Settings)
    assert "large-and-secret" not in error.value.message


def test_settings_are_read_from_an_env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHIE_HOME")
    Path(".env").write_text(f"CHIE_HOME={tmp_path}/from-env-file\nOTHER=ignored\n")
    chie("notes", "save", "somewhere else")
    assert (tmp_path / "from-env-file" / "chie.db").exists()


def test_unreadable_env_file_is_reported() -> None:
    Path(".env").write_bytes(b"\xff\xfe\x00")
    assert chie("notes", "list").output == (
        f"Error: {Path('.env').absolute()} cannot be read. Make it plain UTF-8 text, or remove it.\n"
    )


@pytest.mark.parametrize("command", [(), ("notes",), ("mcp",), ("serve",), ("notes", "import")])
def test_help_is_in_english(command: tuple[str, ...]) -> None:
    output = chie(*command, "--help").output
    assert output.startswith("Usage: ")


class TestVault:
    @pytest.fixture
    def vault(self, tmp_path: Path) -> Path:
        vault = tmp_path / "vault"
        vault.mkdir()
        (vault / "手順.md").write_text("step one", encoding="utf-8")
        (vault / "plan.md").write_text("the plan")
        (vault / "old.md").write_text("the old plan")
        (vault / "report.pdf").write_bytes(b"%PDF-1.7")
        (vault / "budget.XLSX").write_bytes(b"PK")
        assert chie("notes", "import", str(vault)).exit_code == 0
        return vault

    def titles(self) -> set[str]:
        return {line.split("  ")[2] for line in chie("notes", "list").output.splitlines()}

    def test_documents_are_named(self, vault: Path) -> None:
        result = chie("notes", "import", str(vault))
        assert (result.exit_code, "0 rejected" in result.output) == (0, True)
        assert "2 skipped: PDF, Office and e-book files cannot be read yet:" in result.output
        for name in ("report.pdf", "budget.XLSX"):
            assert f"  {vault / name}\n" in result.output

    def test_prune_shows_and_deletes_what_left_the_vault(self, vault: Path) -> None:
        (vault / "plan.md").unlink()
        (vault / "手順.md").unlink()
        result = chie("notes", "import", str(vault))
        assert "2 notes have no file in the folder any more. --prune shows and deletes them." in result.output
        result = chie("notes", "import", "--prune", "--dry-run", str(vault))
        assert (result.exit_code, "2 would be deleted" in result.output) == (0, True)
        assert "plan  (plan.md)" in result.output
        result = chie("notes", "import", "--prune", str(vault))
        assert (result.exit_code, "Add `--yes`" in result.output) == (1, True)
        assert self.titles() == {"plan", "手順", "old"}
        result = chie("notes", "import", "--prune", "--yes", str(vault))
        assert (result.exit_code, "2 deleted" in result.output) == (0, True)
        assert self.titles() == {"old"}
        assert "Nothing to delete." in chie("notes", "import", "--prune", str(vault)).output

    @pytest.mark.parametrize(("answer", "left"), [("y", {"old", "手順"}), ("n", {"old", "plan", "手順"})])
    def test_prune_asks_first(self, vault: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: set[str]) -> None:
        (vault / "plan.md").unlink()
        monkeypatch.setattr("chie.knowledge.cli.imports.has_terminal", lambda: True)
        result = CliRunner().invoke(main, ["notes", "import", "--prune", str(vault)], input=f"{answer}\n")
        assert (result.exit_code, "Delete 1 note" in result.output) == (0, True)
        assert self.titles() == left

    def test_prune_keeps_notes_that_were_changed_in_chie(self, vault: Path) -> None:
        [line] = [line for line in chie("notes", "list").output.splitlines() if line.endswith("  plan")]
        with closing(create_store(load(KnowledgeSettings))) as store:
            KnowledgeService(store).update(line.split("  ")[0], content="the plan, 改訂版")
        (vault / "plan.md").unlink()
        result = chie("notes", "import", "--prune", "--yes", str(vault))
        assert "1 have no file any more, but were changed in Chie and are kept:" in result.output
        assert self.titles() == {"plan", "手順", "old"}

    def test_prune_of_an_empty_folder_is_refused(self, vault: Path) -> None:
        for path in vault.iterdir():
            path.unlink()
        result = chie("notes", "import", "--prune", "--yes", str(vault))
        assert (result.exit_code, "has no Markdown files" in result.output) == (1, True)
        assert self.titles() == {"plan", "手順", "old"}
