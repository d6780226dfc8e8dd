"""The part of NoteStore's contract on spaces. Each SQL store's test module subclasses it."""

import random
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.errors import NotFoundError
from chie.knowledge.note import Note
from chie.knowledge.search.query import parse
from chie.knowledge.spaces.space import TEAM_SPACE, Contents, Space
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

WORDS = "redis nginx timeout 障害 再起動 監視 proxy cache kubernetes 証明書 更新 deploy postgres 接続 zeppelin".split()
QUERIES = (
    *("redis timeout", "証明書の更新", "kuberntes deploy", "zeppelni"),
    *('"redis cache"', "tag:infra proxy", "-redis 障害", ""),
)
OPS = Space(name="ops", title="運用", everybody="none", grants={"aki": "write", "ben": "read"})
HR = Space(name="hr", title="HR")


def viewer(user: str, *spaces: str) -> Viewer:
    return Viewer(user, frozenset(spaces))


def answers(store: NoteStore, who: Viewer) -> list[Any]:
    """Everything that the store says to a viewer."""
    note = a_note("redis timeout 障害", title="nginx")
    found: list[Any] = []
    for query in QUERIES:
        parsed = parse(query) if query else parse("tag:infra")
        found.append(store.search(parsed.text, limit=9, tags=parsed.tags, filters=parsed.filters, viewer=who))
    data = store.map_data(limit=9, viewer=who)
    assert data is not None
    return [
        *found,
        store.browse(tag=None, limit=99, cursor=None, viewer=who),
        store.browse(tag="infra", limit=99, cursor=None, viewer=who),
        store.similar(note, limit=9, viewer=who),
        store.count(viewer=who),
        store.check(viewer=who),
        store.tags(viewer=who),
        store.authors(viewer=who),
        data.notes,
        data.vectors.tolist(),
        store.signatures(viewer=who, limit=99),
        store.by_signature(["<n> failed"], viewer=who, limit=99),
        store.by_source_file("app.py", viewer=who, limit=99),
        store.count_sources("acme", viewer=who),
        store.proposals(viewer=who, limit=99),
        store.count_proposals(viewer=who),
    ]


class NoteSpaceContract:
    def test_spaces_and_grants_round_trip(self, store: NoteStore) -> None:
        assert store.spaces.all() == [TEAM_SPACE]
        store.spaces.save(OPS)
        store.spaces.save(HR)
        assert store.spaces.all() == [HR, OPS, TEAM_SPACE]
        assert store.spaces.grant("hr", "cho", "read")
        assert store.spaces.grant("ops", "ben", "write")
        assert store.spaces.grant("ops", "aki", "none")
        assert not store.spaces.grant("nowhere", "aki", "read")
        assert store.spaces.all()[:2] == [replace(HR, grants={"cho": "read"}), replace(OPS, grants={"ben": "write"})]
        store.spaces.save(replace(OPS, title="Operations", everybody="read"))
        assert store.spaces.all()[1] == replace(OPS, title="Operations", everybody="read")

    def test_a_space_with_notes_is_not_deleted(self, store: NoteStore) -> None:
        store.spaces.save(OPS)
        note = a_note("x", space="ops", user_id="aki", private=True)
        store.save(note)
        assert store.spaces.delete("ops") == store.spaces.delete("ops", move_to="team") == Contents(notes=1)
        moved = replace(note, space="team")
        store.save(moved, replacing=note)
        gone = a_note("y", space="ops")
        store.save(gone)
        store.delete(gone.id)
        assert store.spaces.delete("ops") == Contents(deleted=1, versions=1)
        assert store.spaces.all() == [OPS, TEAM_SPACE]
        for note_id in (note.id, gone.id):
            assert store.purge(note_id, deleted=note_id == gone.id)
        assert store.spaces.delete("ops") is None
        assert store.spaces.delete("team") is not None
        assert store.spaces.all() == [TEAM_SPACE]

    @pytest.mark.req("MT-1")
    @pytest.mark.parametrize("target", ["team", "hr"])
    def test_versions_and_trash_of_a_deleted_space_move(self, store: NoteStore, target: str) -> None:
        """To those who may read there, private ones to their authors; a space of the same name has none of them."""
        for space in (OPS, HR, Space(name="ops2")):
            store.spaces.save(space)
        fields: dict[str, Any] = {"space": "ops", "user_id": "aki"}
        left = a_note("left", id="k-left", title="Former", **fields)
        gone, mine = a_note("gone", id="k-gone", **fields), a_note("mine", id="k-mine", private=True, **fields)
        elsewhere = a_note("elsewhere", id="k-elsewhere", space="ops2", user_id="aki")
        for note in (left, gone, mine, elsewhere):
            store.save(note)
        store.save(replace(left, space="team", title="Now"), replacing=left)
        before = replace(gone, content="before")
        store.save(before, replacing=gone)
        for note_id in (gone.id, mine.id, elsewhere.id):
            store.delete(note_id)
        everything = store.walk_versions(after=None, limit=99)
        assert store.spaces.delete("ops", move_to=target) is None
        store.spaces.save(OPS)
        assert len(store.walk_versions(after=None, limit=99)) == len(everything)

        def in_trash(who: Viewer) -> list[Note]:
            found = store.trash(viewer=who, after=datetime.min.replace(tzinfo=MOMENT.tzinfo), limit=9)
            return sorted([one.note for one in found if one.note], key=lambda note: note.id)

        moved_gone, moved_mine = (replace(note, space=target) for note in (before, mine))
        assert in_trash(viewer("aki", "ops")) == in_trash(viewer("ben", "ops")) == []
        assert in_trash(viewer("ben", target)) == [moved_gone]
        assert in_trash(viewer("aki", target)) == [moved_gone, moved_mine]
        assert in_trash(viewer("aki", "ops2")) == [elsewhere]
        assert [one.note for one in store.versions(left.id, limit=9)] == [replace(left, space=target)]
        assert [one.note for one in store.versions(gone.id, limit=9)][1] == replace(gone, space=target)
        assert store.former_titles(left.id, viewer=viewer("ben", "ops")) == []
        assert store.former_titles(left.id, viewer=viewer("ben", target)) == ["former"]
        with pytest.raises(NotFoundError):
            store.spaces.delete("ops", move_to="nowhere")

    def test_fields_of_a_space_change_alone(self, store: NoteStore) -> None:
        assert store.spaces.add("ops", title="Ops", everybody="read")
        assert not store.spaces.add("ops", title="Other", everybody="none")
        store.spaces.grant("ops", "aki", "write")
        assert store.spaces.change("ops", title="運用", everybody=None)
        assert store.spaces.change("ops", title=None, everybody="none")
        assert not store.spaces.change("nowhere", title="x", everybody=None)
        assert store.spaces.all()[0] == Space(name="ops", title="運用", everybody="none", grants={"aki": "write"})

    def test_a_note_needs_its_space(self, store: NoteStore) -> None:
        note = a_note("x")
        with pytest.raises(NotFoundError):
            store.save(replace(note, space="ops"))
        store.save(note)
        with pytest.raises(NotFoundError):
            store.save(replace(note, space="ops"), replacing=note)
        with pytest.raises(NotFoundError):
            store.put_copies([replace(note, space="ops")])
        assert store.get(note.id) == note

    def test_repositories_are_bound_to_one_space(self, store: NoteStore) -> None:
        store.spaces.save(OPS)
        assert store.spaces.bind("github.com/acme/shop", "ops")
        assert store.spaces.bind("github.com/acme/web", "ops")
        assert store.spaces.bind("github.com/acme/web", "team")
        assert not store.spaces.bind("github.com/acme/web", "nowhere")
        assert store.spaces.repositories() == {"github.com/acme/shop": "ops", "github.com/acme/web": "team"}
        assert store.spaces.bind("github.com/acme/web", None)
        assert store.spaces.delete("ops") is None
        assert store.spaces.repositories() == {}

    @pytest.mark.req("MT-6")
    def test_only_readers_of_a_space_find_its_notes(self, store: NoteStore) -> None:
        store.spaces.save(OPS)
        store.spaces.save(HR)
        notes = {
            name: a_note("redis evicts sessions", id=f"k-{name}", tags=["infra"], **fields)
            for name, fields in dict[str, dict[str, Any]](
                team={},
                ops={"space": "ops", "user_id": "aki"},
                hr={"space": "hr", "user_id": "aki"},
                mine={"space": "ops", "user_id": "aki", "private": True},
                diary={"user_id": "aki", "private": True},
            ).items()
        }
        for note in notes.values():
            store.save(note)
            assert store.get(note.id) == note
        for who, seen in (
            (viewer("ben", "team"), {"team"}),
            (viewer("ben", "team", "ops"), {"team", "ops"}),
            (viewer("ben", "ops"), {"ops"}),
            (viewer("aki", "ops"), {"ops", "mine"}),
            (viewer("aki", "hr"), {"hr"}),
            (viewer("aki", "team", "hr"), {"team", "diary", "hr"}),
            (viewer("aki", "team", "ops", "hr"), set(notes)),
            (viewer("aki"), set()),
        ):
            ids = {f"k-{name}" for name in seen}
            for query, tags in (("redis evicts", ()), ("redis evicts", ("infra",)), ("", ("infra",))):
                assert {hit.id for hit in store.search(query, limit=9, tags=tags, viewer=who).hits} == ids
            assert {note.id for note in store.browse(tag=None, limit=9, cursor=None, viewer=who).notes} == ids
            assert {one.id for one in store.similar(a_note("redis evicts sessions"), limit=9, viewer=who)} == ids
            assert store.count(viewer=who) == store.check(viewer=who).notes == len(ids)
            data = store.map_data(limit=9, viewer=who)
            assert data is not None
            assert {note.id for note in data.notes} == ids
            assert sum(one.count for one in store.authors(viewer=who)) == len(ids)
            assert sum(one.count for one in store.tags(viewer=who)) == len(ids)
            assert all(who.sees(note) == (name in seen) for name, note in notes.items())

    @pytest.mark.req("MT-6")
    def test_moving_a_note_moves_its_words(self, store: NoteStore) -> None:
        store.spaces.save(OPS)
        note = a_note("zeppelin lands 飛行船")
        moved = replace(note, space="ops")
        store.save(note)
        store.save(moved, replacing=note)
        for query in ("zeppelin", "zeppelni", "飛行船"):
            assert store.search(query, limit=3, viewer=viewer("ben", "team")).hits == []
            assert [hit.id for hit in store.search(query, limit=3, viewer=viewer("ben", "ops")).hits] == [note.id]
        store.save(note, replacing=moved)
        assert store.search("zeppelin", limit=3, viewer=viewer("ben", "ops")).hits == []
        assert len(store.search("zeppelin", limit=3, viewer=viewer("ben", "team")).hits) == 1

    @pytest.mark.req("MT-6")
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_answers_do_not_depend_on_notes_of_other_spaces(self, store: NoteStore, seed: int) -> None:
        """Neither hits nor scores, counts and corrections of typing errors."""
        rng = random.Random(seed)  # noqa: S311 - the same notes every time
        store.spaces.save(OPS)
        store.spaces.save(HR)

        def add(number: int, space: str) -> None:
            text = " ".join(rng.choices(WORDS, k=rng.randint(3, 30)))
            store.save(
                a_note(
                    text,
                    id=f"k-{space}-{number}",
                    title=rng.choice(WORDS),
                    tags=rng.sample(["infra", space], k=rng.randint(0, 2)),
                    space=space,
                    user_id=rng.choice(["aki", "ben", "cho"]),
                    private=rng.random() < 0.2,
                    proposal=rng.random() < 0.2,
                    signatures=["<n> failed"] if rng.random() < 0.3 else [],
                    source="https://github.com/acme/shop/blob/main/app.py" if rng.random() < 0.3 else None,
                    questions=[rng.choice(WORDS)] if rng.random() < 0.2 else [],
                    created_at=MOMENT,
                    updated_at=MOMENT,
                )
            )

        for number in range(12):
            add(number, "team")
            add(number, "ops")
        viewers = [viewer("ben", "team"), viewer("ben", "ops"), viewer("aki", "team", "ops")]
        before = [answers(store, who) for who in viewers]
        for number in range(25):
            add(number, "hr")
        assert [answers(store, who) for who in viewers] == before
        only_team = answers(store, viewers[0])
        for number in range(25):
            add(100 + number, "ops")
        assert answers(store, viewers[0]) == only_team
