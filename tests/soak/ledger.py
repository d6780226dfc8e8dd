"""Everything that Chie acknowledged, and so must still have at the end."""

from collections import Counter
from dataclasses import dataclass, field

import httpx2


@dataclass
class Ledger:
    """`unsure` are notes whose deletion was requested but not confirmed: they may or may not exist."""

    notes: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    questions: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)  # by message: its session and its text
    tally: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)

    def count(self, what: str) -> None:
        self.tally[what] += 1

    def report(self, loss: str) -> None:
        self.losses.append(loss)

    async def verify(self, client: httpx2.AsyncClient) -> None:
        await self._verify_notes(client)
        await self._verify_sessions(client)

    async def _verify_notes(self, client: httpx2.AsyncClient) -> None:
        for note_id, content in self.notes.items():
            response = await client.get(f"/api/knowledge/{note_id}")
            if response.status_code != 200 or response.json()["content"] != content:
                self.report(f"note {note_id} was acknowledged but does not exist")
            found = (await client.get("/api/knowledge/search", params={"q": content, "limit": 5})).json()["hits"]
            if note_id not in [hit["hit"]["id"] for hit in found]:
                self.report(f"note {note_id} exists but is not found")
        for note_id in self.deleted:
            if (await client.get(f"/api/knowledge/{note_id}")).status_code != 404:
                self.report(f"note {note_id} was deleted but exists")

    async def _verify_sessions(self, client: httpx2.AsyncClient) -> None:
        contents: dict[str, set[str]] = {}
        for session_id in {session for session, _ in self.questions} | {s for s, _ in self.answers.values()}:
            response = await client.get(f"/api/sessions/{session_id}")
            messages = response.json().get("messages", []) if response.status_code == 200 else []
            contents[session_id] = {message["content"] for message in messages}
        for session_id, question in self.questions:
            if question not in contents[session_id]:
                self.report(f"a question of session {session_id} was acknowledged but does not exist")
        for message_id, (session_id, text) in self.answers.items():
            if text not in contents[session_id]:
                self.report(f"answer {message_id} was read to its end but is stored differently")
