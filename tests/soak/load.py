"""The load: workers ask, disconnect and reconnect; they save, search and delete notes."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count
from random import Random

import httpx2
from tests.soak.ledger import Ledger

MAX_NOTES = 60  # per worker; older ones are deleted, so that stored notes do not make memory grow
MAX_RECONNECTS = 200  # to one answer, across outages
CONNECTION_ERRORS = (httpx2.TransportError, httpx2.StreamError)


class Worker:
    def __init__(self, number: int, client: httpx2.AsyncClient, ledger: Ledger) -> None:
        self._random = Random(number)  # noqa: S311 - a schedule, not a secret
        self._marks = (f"#{number}.{turn}" for turn in count())
        self._client = client
        self._ledger = ledger
        self._own: list[str] = []
        self._session: str | None = None

    async def work(self, until: asyncio.Event) -> None:
        actions = [self._ask, self._ask, self._save, self._save, self._search, self._list]
        while not until.is_set():
            action = self._delete if len(self._own) > MAX_NOTES else self._random.choice(actions)
            try:
                await action(next(self._marks))
            except CONNECTION_ERRORS as error:
                self._ledger.count(f"{action.__name__.strip('_')} broke: {type(error).__name__}")
                await asyncio.sleep(0.5)

    async def _ask(self, mark: str) -> None:
        kind = self._random.choice(["words", "words", "tool"])
        question = f"{kind} {self._random.randint(5, 60)} {mark}"
        if self._random.random() < 0.2:
            self._session = None
        body = {"message": question, "agent_id": "soak"} | ({"session_id": self._session} if self._session else {})
        leave = self._random.randint(1, 20) if self._random.random() < 0.3 else None
        async with self._client.stream("POST", "/api/chat/stream", json=body) as response:
            if response.status_code != 200:
                self._ledger.count(f"ask {response.status_code}")
                self._session = None
                return
            self._session = response.headers["X-Chie-Session"]
            message = response.headers["X-Chie-Message"]
            self._ledger.questions.append((self._session, question))
            reading = Reading(message, self._session, self._ledger)
            await reading.read(response, leave)
        while not reading.ended and reading.tries < MAX_RECONNECTS:
            await reading.reconnect(self._client)
        if not reading.ended:
            self._ledger.report(f"answer {message} never ended")

    async def _save(self, mark: str) -> None:
        content = f"Soak finding {mark}: {self._random.choice(['nginx', 'redis', '接続プール', '文字化け'])} {mark}"
        response = await self._client.post("/api/knowledge", json={"content": content, "tags": ["soak"]})
        self._ledger.count(f"save {response.status_code}")
        if response.status_code == 201:
            note_id = response.json()["id"]
            self._own.append(note_id)
            self._ledger.notes[note_id] = content

    async def _search(self, _: str) -> None:
        if not self._own:
            return
        note_id = self._random.choice(self._own)
        query: dict[str, str | int] = {"q": self._ledger.notes[note_id], "limit": 5}
        response = await self._client.get("/api/knowledge/search", params=query)
        self._ledger.count(f"search {response.status_code}")
        if response.status_code == 200 and note_id not in [hit["hit"]["id"] for hit in response.json()["hits"]]:
            self._ledger.report(f"note {note_id} was not found although it exists")

    async def _delete(self, _: str) -> None:
        note_id = self._own.pop(0)
        content = self._ledger.notes.pop(note_id)
        self._ledger.unsure.add(note_id)
        response = await self._client.delete(f"/api/knowledge/{note_id}")
        self._ledger.count(f"delete {response.status_code}")
        self._ledger.unsure.discard(note_id)
        if response.status_code == 200:
            self._ledger.deleted.add(note_id)
        else:
            self._ledger.notes[note_id] = content
            self._own.append(note_id)

    async def _list(self, _: str) -> None:
        for url in ("/api/sessions?limit=20", "/api/knowledge?limit=20", "/health"):
            self._ledger.count(f"list {(await self._client.get(url)).status_code}")


class Reading:
    """Reads one answer across as many connections as needed, and checks that each event comes once and in order."""

    def __init__(self, message: str, session: str, ledger: Ledger) -> None:
        self.ended = False
        self.tries = 0
        self._message = message
        self._session = session
        self._ledger = ledger
        self._last = 0
        self._text = ""

    async def read(self, response: httpx2.Response, leave: int | None = None) -> None:
        seen = 0
        try:
            async for number, event, data in _events(response):
                if number != self._last + 1 and not (event == "error" and number > self._last):  # a crash leaves a gap
                    self._ledger.report(f"answer {self._message}: event {number} came after {self._last}")
                self._last = number
                self._take(event, data)
                seen += 1
                if seen == leave:
                    return
        except CONNECTION_ERRORS:
            self._ledger.count("stream broke")

    async def reconnect(self, client: httpx2.AsyncClient) -> None:
        self.tries += 1
        headers = {"Last-Event-ID": str(self._last)}
        try:
            async with client.stream("GET", f"/api/chat/stream/{self._message}", headers=headers) as response:
                if response.status_code == 204:
                    self.ended = True
                elif response.status_code == 200:
                    self._ledger.count("reconnected")
                    await self.read(response)
                else:
                    self._ledger.count(f"reconnect {response.status_code}")
        except CONNECTION_ERRORS:
            self._ledger.count("reconnect broke")
        if not self.ended:
            await asyncio.sleep(0.3)

    def _take(self, event: str, data: dict[str, object]) -> None:
        if event == "message":
            self._text += str(data["content"])
        elif event == "done":
            self.ended = True
            if data["message_id"] is None:
                self._ledger.count("answer failed")
            else:
                self._ledger.count("answer complete")
                self._ledger.answers[self._message] = (self._session, self._text)


async def _events(response: httpx2.Response) -> AsyncIterator[tuple[int, str, dict[str, object]]]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        name, _, value = line.partition(": ")
        if not line and "data" in fields:
            yield int(fields["id"]), fields["event"], json.loads(fields["data"])
            fields = {}
        elif name:
            fields[name] = value
