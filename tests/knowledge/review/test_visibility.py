"""Whatever is private: nobody learns from the review of a note that they may not see."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.embedders import HashingEmbedder

from chie.access.identity import User, acting_as
from chie.knowledge.review.review import Review
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

USERS = (User("aki"), User("ben"), User("root", admin=True))
TEXTS = (
    "注文APIのタイムアウトは30秒。",
    "注文APIのタイムアウトは60秒。",
    "The upload limit of the gateway is 20 MB.",
    "The upload limit of the gateway is 50 MB.",
    "The upload limit of the gateway is 20 MB. Larger files get a 413.",
)
notes = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(USERS), st.booleans()), min_size=2, max_size=8)


@pytest.mark.req("MT-3")
@settings(max_examples=25, deadline=None)
@given(notes=notes)
def test_findings_hold_only_notes_that_the_viewer_sees(notes: list[tuple[str, User, bool]]) -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "notes.db", HashingEmbedder())
        service = KnowledgeService(store)
        review = Review(service, known_users=set)
        for content, author, private in notes:
            with acting_as(author):
                service.save(content, private=private)
        for user in USERS:
            with acting_as(user):
                page = review.page(limit=100)
                seen = [note for finding in page.findings for note in finding.notes]
                assert all(note.reader in (None, user.id) for note in seen)
                assert sum(page.counts.values()) == len(page.findings)
        store.close()
