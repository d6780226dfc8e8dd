"""The review over HTTP: what it finds, who sees it, and what each decision does."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge.embedding.cached import CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.review.review import Merged, Review
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.review_records import ReviewRecords
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.store.version_table import VersionTable

API = "/api/knowledge/review"
ALL = 600.0  # seconds, in which all notes are compared
AKI, BEN, ADMIN = User("aki"), User("ben"), User("root", admin=True)
PAIRS = {
    "number": ("注文APIのタイムアウトは30秒。", "注文APIのタイムアウトを60秒に変更した。"),
    "version": ("We build with Python 3.10.", "The project is built with Python 3.12."),
    "name": ("メールの送信には SendGrid を使う。", "メール送信は Amazon SES を使っている。"),
    "negation": ("The client library supports HTTP/2.", "HTTP/2 is not supported by the client library."),
}
MIXED = ("The timeout of the payment client is 30 s.", "決済クライアントのタイムアウトは 60 秒に変更した。")
SAME = (
    "Never run `terraform apply` from a laptop. Changes go through the pipeline of the infra repository.",
    "Infrastructure changes are applied only by the infra repo's pipeline; don't `terraform apply` locally.",
)


@pytest.fixture(scope="module")
def embedder() -> CachedEmbedder:
    return CachedEmbedder(OnnxEmbedder())


@pytest.fixture
def store(home: Path, embedder: CachedEmbedder) -> Iterator[SqliteStore]:
    store = SqliteStore(home / "chie.db", embedder)
    yield store
    store.close()


@pytest.fixture
def service(store: SqliteStore) -> KnowledgeService:
    return KnowledgeService(store)


@pytest.fixture
def review(service: KnowledgeService) -> Review:
    return Review(service)


@pytest.fixture
def page(store: SqliteStore) -> Iterator[TestClient]:
    app = create_app({"knowledge": create_server(store=store)})
    with TestClient(app, base_url="http://127.0.0.1:8080") as client:
        yield client


def save(service: KnowledgeService, *contents: str, by: User = AKI, **fields: Any) -> list[str]:
    with acting_as(by):
        return [service.save(content, **fields).id for content in contents]


def findings(review: Review, by: User = AKI, **options: Any) -> list[tuple[str, str]]:
    """Kind and reason of each."""
    with acting_as(by):
        return [(one.kind, one.reason.code) for one in review.page(seconds=ALL, **options).findings]


def queries(review: Review, by: User) -> list[object]:
    """Of unanswered searches."""
    with acting_as(by):
        page = review.page(seconds=ALL, kind="unanswered")
        return [one.reason.params["query"] for one in page.findings]


def compared(page: TestClient) -> dict[str, Any]:
    """The first page once all notes are compared."""
    while (body := page.get(API).json())["pending"]:
        pass
    return dict(body)


def only(review: Review, by: User = AKI) -> str:
    with acting_as(by):
        (finding,) = review.page(seconds=ALL).findings
        return finding.id


@pytest.mark.req("MT-3")
@pytest.mark.parametrize("difference", PAIRS)
def test_a_contradiction_names_what_differs(service: KnowledgeService, review: Review, difference: str) -> None:
    save(service, *PAIRS[difference], "アイコンは SVG を使う。")
    assert findings(review) == [("contradiction", difference)]


@pytest.mark.req("MT-3")
def test_findings_are_listed_with_both_notes_and_the_reason(service: KnowledgeService, page: TestClient) -> None:
    older, newer = save(service, *MIXED, by=User("anonymous"))
    save(service, *SAME, by=User("anonymous"))
    body = compared(page)
    first, second = body["findings"]
    assert (first["kind"], first["reason"]) == (
        "contradiction",
        {"code": "number", "params": {"here": "30 s", "there": "60 秒"}},
    )
    assert [note["id"] for note in first["notes"]] == [older, newer]
    assert (second["kind"], second["reason"]["code"]) == ("duplicate", "same")
    assert (body["counts"]["contradiction"], body["counts"]["duplicate"], body["pending"]) == (1, 1, 0)
    assert page.get(f"{API}/count").json()["total"] == 2
    one = page.get(API, params={"limit": 1}).json()
    two = page.get(API, params={"limit": 1, "cursor": one["next_cursor"]}).json()
    assert [one["findings"][0]["id"], two["findings"][0]["id"]] == [first["id"], second["id"]]
    assert two["next_cursor"] is None
    assert page.get(API, params={"kind": "duplicate"}).json()["findings"] == [second]
    assert page.get(API, params={"cursor": "x"}).status_code == 400


@pytest.mark.req("MT-3")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ステージングのワーカー数は 2。", "本番のワーカー数は 16。"),
        ("The access token lives for 15 minutes.", "The refresh token lives for 30 days."),
        ("注文APIのタイムアウトは以前は30秒で、決済の障害のあと見直した。", "注文APIのタイムアウトは60秒。"),
        ("Unit tests must not use the network.", "Integration tests may use the network through the recorder."),
    ],
)
def test_notes_that_are_both_right_are_left_alone(
    service: KnowledgeService, review: Review, one: str, other: str
) -> None:
    save(service, one, other)
    assert findings(review) == []


@pytest.mark.req("MT-3")
@pytest.mark.parametrize("action", ["keep", "dismiss"])
def test_a_decided_pair_is_asked_about_again_only_for_another_reason(
    service: KnowledgeService, review: Review, action: Any
) -> None:
    _, newer = save(service, *PAIRS["number"])
    with acting_as(AKI):
        review.decide(only(review), action)
        assert findings(review) == []
        service.update(newer, content="注文APIのタイムアウトを60秒に変更した。外部の在庫照会が遅い。")
        assert findings(review) == []
        service.update(newer, content="注文APIのタイムアウトを90秒に変更した。")
        assert findings(review) == [("contradiction", "number")]


@pytest.mark.req("MT-3")
def test_merging_writes_one_note_and_undo_brings_both_back(service: KnowledgeService, review: Review) -> None:
    older, newer = save(service, *SAME)
    with acting_as(AKI):
        before = [service.get(older), service.get(newer)]
        finding = only(review)
        with pytest.raises(ValidationError, match="merged text"):
            review.decide(finding, "merge")
        decision = review.decide(finding, "merge", merged=Merged(content="Only the pipeline applies Terraform."))
        assert service.get(newer).content == "Only the pipeline applies Terraform."
        with pytest.raises(NotFoundError):
            service.get(older)
        assert findings(review) == []
        with acting_as(BEN), pytest.raises(NotFoundError, match="no such decision"):
            review.undo(decision.id)
        review.undo(decision.id)
        assert [service.get(note.id).content for note in before] == [note.content for note in before]
        assert findings(review) == [("duplicate", "same")]
        with pytest.raises(NotFoundError):
            review.undo(decision.id)


@pytest.mark.req("MT-3")
def test_an_interrupted_merge_changes_nothing(
    service: KnowledgeService, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = save(service, *SAME)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("interrupted")

    with acting_as(AKI):
        before = [service.get(older), service.get(newer)]
        with monkeypatch.context() as patch:
            patch.setattr(VersionTable, "end", fail)
            with pytest.raises(RuntimeError, match="interrupted"):
                review.decide(only(review), "merge", merged=Merged(content="both"))
        assert [service.get(older), service.get(newer)] == before
        review.decide(only(review), "merge", merged=Merged(content="both"))
        assert service.find(older) is None


@pytest.mark.req("MT-3")
def test_archiving_over_http_takes_the_older_note_unless_another_is_named(
    service: KnowledgeService, page: TestClient
) -> None:
    older, newer = save(service, *SAME, by=User("anonymous"))
    (finding,) = compared(page)["findings"]
    body = {"finding": finding["id"], "action": "archive"}
    assert (
        page.post(f"{API}/decisions", json={**body, "note": "k-other"}).json()["code"].endswith("review_note_invalid")
    )
    decided = page.post(f"{API}/decisions", json=body)
    assert decided.status_code == 201
    assert page.get(f"/api/knowledge/{older}").status_code == 404
    assert page.post(f"{API}/decisions", json=body).status_code == 404
    assert page.delete(f"{API}/decisions/{decided.json()['id']}").status_code == 200
    page.post(f"{API}/decisions", json={**body, "note": newer})
    assert [page.get(f"/api/knowledge/{note}").status_code for note in (older, newer)] == [200, 404]


@pytest.mark.req("MT-3")
def test_the_newer_note_replaces_the_older_one_until_undone(service: KnowledgeService, review: Review) -> None:
    older, newer = save(service, *PAIRS["number"])
    with acting_as(AKI):
        decision = review.decide(only(review), "supersede")
        assert service.get(newer).supersedes == [older]
        assert [hit.id for hit in service.search("注文APIのタイムアウト").hits] == [newer]
        assert findings(review) == []
        review.undo(decision.id)
        assert {hit.id for hit in service.search("注文APIのタイムアウト").hits} == {older, newer}
        assert findings(review) == [("contradiction", "number")]


@pytest.mark.req("MT-3")
def test_undo_keeps_what_somebody_wrote_since(service: KnowledgeService, review: Review) -> None:
    _, newer = save(service, *SAME)
    with acting_as(AKI):
        decision = review.decide(only(review), "merge", merged=Merged(content="merged"))
        service.update(newer, content="merged, and more")
        with pytest.raises(ConflictError, match="changed since"):
            review.undo(decision.id)
        assert service.get(newer).content == "merged, and more"


@pytest.mark.req("MT-3")
@pytest.mark.parametrize("action", ["merge", "supersede", "archive"])
def test_only_who_may_change_the_notes_may_change_them_here(
    service: KnowledgeService, review: Review, action: Any
) -> None:
    save(service, SAME[0])
    save(service, SAME[1], by=BEN)
    with acting_as(BEN):
        (finding,) = review.page(seconds=ALL).findings
        assert finding.may_change == [False, True]
        with pytest.raises(ForbiddenError):
            review.decide(finding.id, action, merged=Merged(content="merged"))
        assert [service.get(note.id) for note in finding.notes] == finding.notes
    with acting_as(ADMIN):
        assert review.page(seconds=ALL).findings[0].may_change == [True, True]


@pytest.mark.req("MT-3")
def test_a_private_note_is_compared_for_its_author_alone(service: KnowledgeService, review: Review) -> None:
    save(service, SAME[0])
    save(service, SAME[1], by=BEN, private=True)
    assert findings(review, BEN) == [("duplicate", "same")]
    assert findings(review, AKI) == []
    assert findings(review, ADMIN) == []
    with acting_as(BEN):
        finding = only(review, BEN)
    with acting_as(AKI), pytest.raises(NotFoundError):
        review.decide(finding, "dismiss")


@pytest.mark.req("MT-3")
def test_a_note_that_nobody_needed_for_months_is_stale_until_it_is_confirmed(
    service: KnowledgeService, store: SqliteStore
) -> None:
    note, used = save(service, "VPN の設定は Wiki を見る。", "Ask Ana about GraphQL.")
    later = datetime.now(UTC) + timedelta(days=200)
    review = Review(service, clock=lambda: later)
    assert isinstance(store.records, ReviewRecords)
    store.records.remember_uses([used], later - timedelta(days=10))
    assert findings(review) == [("stale", "stale")]
    assert findings(Review(service, clock=lambda: later, stale_months=12)) == []
    with acting_as(AKI):
        decision = review.decide(f"stale:{note}", "keep")
        assert service.get(note).confirmed_by == "aki"
        assert findings(review) == []
        review.undo(decision.id)
        assert findings(review) == [("stale", "stale")]
        review.decide(f"stale:{note}", "dismiss")
    assert findings(review) == []
    much_later = Review(service, clock=lambda: later + timedelta(days=400))
    assert len(findings(much_later)) == 1, "only the confirmed one: no problem is never asked again"


@pytest.mark.req("MT-3")
def test_notes_of_removed_users_are_listed(service: KnowledgeService) -> None:
    save(service, "AKI の書いたメモ")
    (gone,) = save(service, "Ben wrote about invoices.", by=BEN)
    review = Review(service, known_users=lambda: {"aki", "root"})
    with acting_as(ADMIN):
        (finding,) = review.page(seconds=ALL).findings
        assert (finding.kind, finding.notes[0].id, finding.reason.params) == ("orphaned", gone, {"author": "ben"})
        review.decide(finding.id, "keep")
        assert review.page(seconds=ALL).findings == []
    assert findings(Review(service)) == []


@pytest.mark.req("MT-3")
def test_unanswered_searches_are_recorded_only_with_consent(
    service: KnowledgeService, store: SqliteStore, review: Review
) -> None:
    save(service, "注文APIのタイムアウトは30秒。")
    with acting_as(AKI):
        service.search("請求書の宛名")
        assert findings(review) == []
        store.records.agree("aki", recording=True)
        service.search("請求書の宛名")
        service.search(" 請求書の宛名 ")
        service.search("注文APIのタイムアウト")
        (finding,) = review.page(seconds=ALL).findings
        assert finding.reason.params["query"] == "請求書の宛名"
        assert finding.reason.params["count"] == 2
    assert findings(review, BEN) == []
    assert findings(review, ADMIN) == [("unanswered", "unanswered")]
    with acting_as(AKI):
        with pytest.raises(ValidationError, match="not possible"):
            review.decide(finding.id, "archive")
        dismissed = review.decide(finding.id, "dismiss")
        assert "請求書" not in dismissed.finding
        service.search("請求書の宛名")
    assert findings(review) == findings(review, ADMIN) == []
    with acting_as(AKI):
        review.undo(dismissed.id)
        assert review.page(seconds=ALL).findings[0].reason.params["count"] == 3


@pytest.mark.req("MT-3")
def test_a_search_that_a_note_answers_by_now_is_no_gap_any_more(
    service: KnowledgeService, store: SqliteStore, review: Review
) -> None:
    for user in (AKI, BEN):
        with acting_as(user):
            store.records.agree(user.id, recording=True)
            service.search("請求書の宛名")
            service.search("coffee machine")
    (secret,) = save(service, "請求書の宛名は経理部の佐藤さん。", by=BEN, private=True)
    assert len(findings(review, ADMIN)) == 2, "a private note answers nobody else"
    assert queries(review, BEN) == ["coffee machine"]
    assert queries(review, AKI) == ["coffee machine", "請求書の宛名"]
    with acting_as(BEN):
        service.update(secret, private=False)
    assert queries(review, AKI) == queries(review, ADMIN) == ["coffee machine"]


@pytest.mark.req("MT-3")
def test_every_copy_of_a_note_is_found(
    service: KnowledgeService, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many copies each has only a few nearest ones, which need not have it among theirs."""
    monkeypatch.setattr("chie.knowledge.review.scan.MAX_NEIGHBOURS", 1)
    copies = save(service, *(f"{SAME[0]}{'!' * count}" for count in range(6)))
    with acting_as(AKI):
        found = {note.id for finding in review.page(seconds=ALL).findings for note in finding.notes}
        assert found == set(copies)
        service.update(copies[0], content=f"{SAME[0]} ")
        found = {note.id for finding in review.page(seconds=ALL).findings for note in finding.notes}
        assert found == set(copies)


@pytest.mark.req("MT-3")
def test_notes_are_compared_in_slices_and_only_once(
    service: KnowledgeService, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chie.knowledge.review.scan.BATCH", 1)
    save(service, *SAME, *PAIRS["number"])
    with acting_as(AKI):
        left = [review.page(seconds=0).pending for _ in range(4)]
        assert left == [3, 2, 1, 0]
        assert review.page(seconds=0).counts["duplicate"] == 1
        compared: list[str] = []
        monkeypatch.setattr("chie.knowledge.review.scan.judge", lambda *_, **__: compared.append("again"))
        review.page()
        assert compared == []


@pytest.mark.req("MT-3")
def test_findings_of_deleted_notes_are_gone(service: KnowledgeService, review: Review) -> None:
    older, _ = save(service, *SAME)
    with acting_as(AKI):
        finding = only(review)
        service.delete(older)
        assert findings(review) == []
        with pytest.raises(NotFoundError):
            review.finding(finding)
