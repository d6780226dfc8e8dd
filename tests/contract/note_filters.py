"""The contract of filters in a search. Each adapter's test module subclasses it and provides the fixture `store`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.contract.note_store import MOMENT, a_note

from chie.knowledge.search.query import Filters
from chie.knowledge.search.tokens import fold
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

DAY = timedelta(days=1)
LONG = "詳しい説明 details of the network. " * 60


def fill(store: NoteStore) -> None:
    notes = [
        a_note("redis refuses the connection", id="k-a", user_id="aki", tags=["Cache", "本番"]),
        a_note("redis: Connection  refused\nagain", id="k-b", user_id="Ben", tags=["cache"], updated_at=MOMENT + DAY),
        a_note(f"{LONG}\n\nredis: connection refused after the upgrade. {LONG}", id="k-c", updated_at=MOMENT + 2 * DAY),
        a_note("redis の接続が拒否される。ＶＰＮを使う。", id="k-d", updated_at=MOMENT + 3 * DAY),
        a_note("redis: connection refused 秘密", id="k-secret", user_id="aki", private=True, tags=["hidden"]),
    ]
    for age, note in enumerate(notes):
        store.save(replace(note, created_at=MOMENT + age * timedelta(minutes=1)))


PUBLIC = {"k-a", "k-b", "k-c", "k-d"}

CASES = [
    ({"authors": ("aki",)}, {"k-a"}),
    ({"authors": ("AKI", "ben")}, {"k-a", "k-b"}),
    ({"authors": ("nobody",)}, set()),
    ({"after": MOMENT + DAY}, {"k-b", "k-c", "k-d"}),
    ({"before": MOMENT + DAY}, {"k-a"}),
    ({"after": MOMENT + DAY, "before": MOMENT + 2 * DAY}, {"k-b"}),
    ({"after": datetime(2030, 1, 1, tzinfo=UTC)}, set()),
    ({"without_tags": ("cache",)}, {"k-c", "k-d"}),
    ({"without_tags": ("本番", "nothing")}, {"k-b", "k-c", "k-d"}),
    ({"phrases": ("connection refused",)}, {"k-b", "k-c"}),
    ({"phrases": ("connection refused", "again")}, {"k-b"}),
    ({"phrases": ("connect",)}, set()),
    ({"phrases": ("接続が拒否",)}, {"k-d"}),
    ({"phrases": ("vpn",)}, {"k-d"}),
    ({"phrases": ("拒",)}, {"k-d"}),
    ({"phrases": ("秘密",)}, set()),
    ({"excluded": ("refused",)}, {"k-a", "k-d"}),
    ({"excluded": ("connection refused", "拒否")}, {"k-a"}),
    ({"excluded": ("connect",)}, PUBLIC),
    ({"excluded": ("again",), "phrases": ("refused",), "after": MOMENT}, {"k-c"}),
]


@pytest.mark.req("SE-4")
class NoteFilterContract:
    @pytest.mark.parametrize(("fields", "expected"), CASES)
    def test_only_notes_that_pass_the_filters_are_found(
        self, store: NoteStore, fields: dict[str, Any], expected: set[str]
    ) -> None:
        fill(store)
        filters = Filters(**fields)
        for query in ("redis", ""):
            assert {hit.id for hit in store.search(query, limit=9, filters=filters).hits} == expected, query

    def test_filters_and_tags_are_combined(self, store: NoteStore) -> None:
        fill(store)
        filters = Filters(authors=("ben",))
        for query in ("redis", ""):
            assert [hit.id for hit in store.search(query, limit=9, tags=["CACHE"], filters=filters).hits] == ["k-b"]
            assert store.search(query, limit=9, tags=["本番"], filters=filters).hits == []

    def test_without_a_query_the_newest_notes_are_listed(self, store: NoteStore) -> None:
        fill(store)
        hits = store.search("", limit=2, filters=Filters(excluded=("again",))).hits
        assert [hit.id for hit in hits] == ["k-d", "k-c"]
        assert [(hit.score, hit.confident, hit.partial) for hit in hits] == [(1.0, True, False), (1.0, True, True)]
        assert hits[1].content.startswith("詳しい説明")

    def test_authors_are_those_of_visible_notes(self, store: NoteStore) -> None:
        assert list(store.authors()) == []
        fill(store)
        store.save(a_note("a diary", user_id="cho", private=True))
        counts = {
            viewer: {one.author: one.count for one in store.authors(viewer=Viewer(viewer))} for viewer in ("aki", "cho")
        }
        assert counts["aki"] == {"aki": 2, "anonymous": 2, "Ben": 1}
        assert counts["cho"] == {"aki": 1, "anonymous": 2, "Ben": 1, "cho": 1}
        assert [one.author for one in store.authors()] == ["anonymous", "Ben", "aki"]

    def test_many_phrases_take_one_look_at_each_note(self, store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """Folding the texts is what takes long."""
        folded: list[str] = []

        def counted(text: str) -> str:
            folded.append(text)
            return fold(text)

        fill(store)
        monkeypatch.setattr("chie.knowledge.search.query.fold", counted)
        excluded = (*(f"{letter}語" for letter in "漢字平仮名片一二三四五六七八九十甲乙丙丁"), "拒", "無")
        filters = Filters(excluded=excluded)
        assert {hit.id for hit in store.search("redis", limit=9, filters=filters).hits} == {"k-a", "k-b", "k-c"}
        assert len(folded) < len(excluded) * len(PUBLIC)
        monkeypatch.undo()
        phrases = ("refused", "connection", "connection refused", "again")
        found = store.search("redis", limit=9, filters=Filters(phrases=phrases, excluded=excluded)).hits
        assert [hit.id for hit in found] == ["k-b"]

    def test_filters_apply_before_ranking(self, store: NoteStore) -> None:
        for number in range(80):
            store.save(a_note(f"redis evicts sessions {number}"))
        store.save(
            a_note(
                "once redis evicts old sessions, see RFC 1918 on the network",
                id="k-rare",
                user_id="aki",
                updated_at=MOMENT + DAY,
            )
        )
        for filters in (Filters(authors=("aki",)), Filters(after=MOMENT + DAY), Filters(phrases=("rfc 1918",))):
            assert [hit.id for hit in store.search("redis evicts sessions", limit=1, filters=filters).hits] == [
                "k-rare"
            ]

    def test_filters_do_not_reveal_private_notes(self, store: NoteStore) -> None:
        fill(store)
        for filters in (Filters(authors=("aki",)), Filters(phrases=("connection refused",)), Filters(after=MOMENT)):
            for query in ("redis", ""):
                found = {
                    viewer: {
                        hit.id for hit in store.search(query, limit=9, filters=filters, viewer=Viewer(viewer)).hits
                    }
                    for viewer in ("aki", "ben")
                }
                assert found["aki"] - found["ben"] == {"k-secret"}
                assert found["ben"] <= PUBLIC
        for query in ("redis", ""):
            assert store.search(query, limit=9, tags=["hidden"], viewer=Viewer("ben")).hits == []
            assert len(store.search(query, limit=9, tags=["hidden"], viewer=Viewer("aki")).hits) == 1
