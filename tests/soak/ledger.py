"""What the house acknowledged, and so must still have at the end."""

from collections import Counter
from dataclasses import dataclass, field

import httpx2

FULL = 100


@dataclass
class Ledger:
    """`unsure` are notes whose deletion was asked for and never answered: they may be there or not."""

    notes: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    questions: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)  # by message: its session and its text
    tally: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def count(self, what: str) -> None:
        self.tally[what] += 1

    def accuse(self, fault: str) -> None:
        self.faults.append(fault)

    async def verify(self, client: httpx2.AsyncClient) -> None:
        await self._verify_notes(client)
        await self._verify_sessions(client)

    async def _verify_notes(self, client: httpx2.AsyncClient) -> None:
        for note_id, content in self.notes.items():
            response = await client.get(f"/api/knowledge/{note_id}")
            if response.status_code != 200 or response.json()["content"] != content:
                self.accuse(f"note {note_id} was acknowledged and is not there")
            found = (await client.get("/api/knowledge/search", params={"q": content, "limit": 5})).json()["hits"]
            if note_id not in [hit["hit"]["id"] for hit in found]:
                self.accuse(f"note {note_id} is there and is not found")
        for note_id in self.deleted:
            if (await client.get(f"/api/knowledge/{note_id}")).status_code != 404:
                self.accuse(f"note {note_id} was deleted and is there")

    async def _verify_sessions(self, client: httpx2.AsyncClient) -> None:
        said: dict[str, set[str]] = {}
        for session_id in {session for session, _ in self.questions} | {s for s, _ in self.answers.values()}:
            response = await client.get(f"/api/sessions/{session_id}")
            messages = response.json().get("messages", []) if response.status_code == 200 else []
            said[session_id] = {message["content"] for message in messages}
        for session_id, question in self.questions:
            if question not in said[session_id]:
                self.accuse(f"a question of session {session_id} was acknowledged and is not there")
        for message_id, (session_id, text) in self.answers.items():
            if text not in said[session_id]:
                self.accuse(f"answer {message_id} was read to its end and is not stored so")
