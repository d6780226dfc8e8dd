"""Spaces on the command line, in files, in queries and in a migration."""

import json
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.contract.note_store import a_note
from tests.fakes.embedders import HashingEmbedder

from chie.anchors.names import repository_name
from chie.cli import main
from chie.knowledge.embedding.precomputed import PrecomputedEmbedder
from chie.knowledge.migration import Journal, Migration
from chie.knowledge.search.query import parse
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Space
from chie.knowledge.spaces.spaces import Spaces
from chie.knowledge.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.req("MT-6")


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:acme/Shop.git",
        "https://github.com/acme/shop",
        "https://me:secret@GitHub.com/acme/shop.git/",
        "ssh://git@github.com:22/acme/shop.git",
        "github.com/acme/shop",
    ],
)
def test_every_url_of_a_repository_is_the_same_name(remote: str) -> None:
    assert repository_name(remote) == "github.com/acme/shop"


def test_folder_without_a_remote_is_its_own_name() -> None:
    assert repository_name("/work/Shop") == "/work/Shop"


def test_bindings_of_earlier_versions_hold_until_they_are_taken_back(home: Path) -> None:
    """They had local repositories with `.git`, and URLs with their query."""
    with closing(SqliteStore(home / "chie.db", HashingEmbedder())) as store:
        store.spaces.save(Space(name="ops"))
        spaces = Spaces(KnowledgeService(store))
        for stored, remote, folder in (
            ("/srv/git/Shop.git", "/srv/git/Shop.git", ""),
            ("/srv/git/Shop.git", "file:///srv/git/Shop", ""),
            ("/work/Shop", "", "/work/Shop/web/src"),
            ("github.com/acme/shop", "https://github.com/acme/shop?tab=readme", ""),
        ):
            store.spaces.bind(stored, "ops")
            assert spaces.space_of(remote, folder) == "ops", remote or folder
            spaces.bind(remote or "/work/Shop/", None)
            assert store.spaces.repositories() == {}
        assert spaces.space_of("https://[x", r"C:\Work\Shop") is None
        assert spaces.bind(r"C:\Work", "ops") == "c:/work"
        assert spaces.space_of("https://[x", r"C:\Work\Shop") == "ops"


def test_query_names_spaces() -> None:
    parsed = parse("再起動 space:ops SPACE:team")
    assert (parsed.text, parsed.spaces) == ("再起動", ("ops", "team"))


def run(*args: str) -> str:
    done = CliRunner().invoke(main, args)
    assert done.exit_code == 0, done.output
    return done.output


def test_command_line(home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    run("spaces", "create", "ops", "--title", "運用")
    run("spaces", "grant", "ops", "ben", "--access", "read")
    run("spaces", "bind", "git@github.com:acme/shop.git", "ops")
    saved = json.loads(run("notes", "save", "本番は日曜に再起動する", "--space", "ops", "--json"))
    assert saved["space"] == "ops"
    listed = json.loads(run("spaces", "list", "--json"))
    assert [space["name"] for space in listed["spaces"]] == ["team", "ops"]
    assert (listed["spaces"][1]["grants"], listed["spaces"][1]["notes"]) == ({"ben": "read"}, 1)
    assert listed["repositories"] == {"github.com/acme/shop": "ops"}
    assert saved["id"] in run("notes", "list", "--space", "ops")
    assert saved["id"] not in run("notes", "list", "--space", "team")
    assert saved["id"] in run("notes", "search", "再起動 space:ops")
    run("notes", "export", str(tmp_path / "files"))
    (file,) = (tmp_path / "files").iterdir()
    assert "space: ops\n" in file.read_text("utf-8")
    run("spaces", "grant", "team", "--everybody", "--access", "read")
    assert CliRunner().invoke(main, ["spaces", "delete", "ops"]).exit_code == 1
    assert "1 note moved to team" in run("spaces", "delete", "ops", "--move-to", "team")
    assert json.loads(run("notes", "show", saved["id"], "--json"))["space"] == "team"
    assert json.loads(run("spaces", "list", "--json"))["repositories"] == {}


def test_import_puts_files_into_a_space(home: Path, tmp_path: Path) -> None:  # noqa: ARG001
    run("spaces", "create", "ops")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "nginx.md").write_text("raise worker_connections", "utf-8")
    run("notes", "import", str(tmp_path / "vault"), "--space", "ops")
    run("notes", "import", str(tmp_path / "vault"))  # again: the note stays where it is
    (note,) = json.loads(run("notes", "list", "--json"))["notes"]
    assert note["space"] == "ops"
    run("notes", "move", note["id"], "team")
    assert json.loads(run("notes", "list", "--json"))["notes"][0]["space"] == "team"


def test_migration_carries_spaces_grants_and_repositories(tmp_path: Path) -> None:
    embedder = PrecomputedEmbedder(HashingEmbedder())
    with (
        closing(SqliteStore(tmp_path / "a.db", HashingEmbedder())) as source,
        closing(SqliteStore(tmp_path / "b.db", embedder)) as target,
    ):
        source.spaces.save(Space(name="ops", title="運用", grants={"ben": "read"}))
        source.spaces.bind("github.com/acme/shop", "ops")
        notes = [a_note("one"), a_note("two", space="ops"), a_note("three", space="ops", user_id="aki", private=True)]
        for note in notes:
            source.save(note)
        migration = Migration(source, target, embedder, Journal.open(tmp_path / "journal"))
        migration.run(lambda _: nullcontext(lambda _: None))
        assert target.spaces.all() == source.spaces.all()
        assert target.spaces.repositories() == {"github.com/acme/shop": "ops"}
        assert [target.get(note.id) for note in notes] == notes
