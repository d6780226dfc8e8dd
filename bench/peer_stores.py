"""Saving and finding notes with several MCP servers: the same stdio client, the same notes and questions.

Their embedding models are downloaded at first use. Where that fails, a peer is measured without its model, and the
reason is below the table.
"""

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.corpus import notes
from bench.figure import Figure
from bench.peers import PeerMissingError, installed, peers
from bench.retrieval import cases, quality
from bench.stdio import Server, ServerError
from bench.table import table

SAVES, SEARCHES, STARTS = 40, 40, 2
LIST = ("spawn to tools/list, CPU", "spawn to tools/list", "tools/list", "memory, idle")
USE = ("a save, CPU", "a save", "a search, CPU", "a search", "memory, after them")
FOUND = ("all, found first", "all, among five")
SETTINGS = {"ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "0"}
Json = dict[str, Any]


@dataclass(frozen=True)
class Store:
    """How one server is started and used. `found` returns the marks of the hits, best first."""

    who: str
    command: Callable[[Path], Sequence[str | Path]]
    save: Callable[[str, str], tuple[str, Json]]
    search: Callable[[str], tuple[str, Json]]
    found: Callable[[str], list[str]]
    env: Callable[[Path], Mapping[str, str]] = lambda _: {}
    prepare: Sequence[tuple[str, Json]] = ()
    failure: re.Pattern[str] = field(default_factory=lambda: re.compile(r"(?!)"))  # an error reported as a success

    def start(self, home: Path) -> Server:
        environment = {**SETTINGS, **self.env(home)}
        return Server(self.command(home), **environment)


def marks(pattern: str) -> Callable[[str], list[str]]:
    return lambda text: list(dict.fromkeys(re.findall(pattern, text)))


def stores() -> Iterator[Store]:
    yield Store(
        who="Chie",
        command=lambda _: [Path(sys.executable).parent / "knowledge-gateway"],
        env=lambda home: {"CHIE_HOME": str(home)},
        save=lambda mark, text: ("save_knowledge", {"content": text, "source": mark}),
        search=lambda query: ("search_knowledge", {"query": query}),
        found=marks(r'"source": ?"(n\d+)"'),
    )
    yield Store(
        who=peers()["chroma-mcp"].label,
        command=lambda home: [installed("chroma-mcp").program, "--client-type", "persistent", "--data-dir", home],
        prepare=[("chroma_create_collection", {"collection_name": "notes"})],
        save=lambda mark, text: (
            "chroma_add_documents",
            {"collection_name": "notes", "documents": [text], "ids": [mark]},
        ),
        search=lambda query: (
            "chroma_query_documents",
            {"collection_name": "notes", "query_texts": [query], "n_results": 10},
        ),
        found=marks(r'"(n\d+)"'),
    )
    yield Store(
        who=peers()["mcp-server-qdrant"].label,
        command=lambda _: [installed("mcp-server-qdrant").program],
        env=lambda home: {"QDRANT_LOCAL_PATH": str(home), "COLLECTION_NAME": "notes"},
        save=lambda mark, text: ("qdrant-store", {"information": text, "metadata": {"mark": mark}}),
        search=lambda query: ("qdrant-find", {"query": query}),
        found=marks(r'"mark\W+(n\d+)'),
    )


class Session:
    """A server that saves and finds notes; errors are recognised in whichever way it reports them."""

    def __init__(self, store: Store, server: Server) -> None:
        self._store = store
        self._server = server
        for tool, arguments in store.prepare:
            server.call(tool, **arguments)

    def save(self, mark: str, text: str) -> None:
        self._call(*self._store.save(mark, text))

    def search(self, query: str) -> list[str]:
        return self._store.found(self._call(*self._store.search(query)))

    def _call(self, tool: str, arguments: Json) -> str:
        result = self._server.call(tool, **arguments)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        if failed := self._store.failure.search(text):
            raise ServerError(failed[1])
        return text


def started(store: Store) -> Iterator[Figure]:
    runs: list[tuple[float, ...]] = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as home, store.start(Path(home)) as server:
            listed = server.request("tools/list")
            size = len(json.dumps(listed["tools"], ensure_ascii=False))
            runs.append((server.cpu(), server.elapsed(), size, server.rss()))
    units = ("s", "s", "characters", "MB")
    for what, unit, values in zip(LIST, units, zip(*runs, strict=True), strict=True):
        yield Figure(what, store.who, min(values), unit)


def used(store: Store) -> Iterator[Figure]:
    queries = [text for _, text, _ in cases()[1]][:SEARCHES]
    with tempfile.TemporaryDirectory() as home, store.start(Path(home)) as server:
        session = Session(store, server)
        session.save("n0", "warm up")
        session.search("warm up")
        texts = [note.content for note in notes(SAVES)]
        saved = _timed(server, [partial(session.save, f"n{number}", text) for number, text in enumerate(texts, 1)])
        asked = _timed(server, [partial(session.search, query) for query in queries])
        values = (*saved, *asked, server.rss())
    for what, unit, value in zip(USE, ("ms", "ms", "ms", "ms", "MB"), values, strict=True):
        yield Figure(what, store.who, value, unit)


def _timed(server: Server, calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """CPU milliseconds per call, and the median latency in milliseconds."""
    times, before = [], server.cpu()
    for call in calls:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1000 * (server.cpu() - before) / len(calls), 1000 * median(times)


def finding(store: Store) -> Iterator[Figure]:
    """The questions of `retrieval.jsonl`, through the server's own tools."""
    texts = {f"n{number}": text for number, text in enumerate(cases()[0])}
    with tempfile.TemporaryDirectory() as home, store.start(Path(home)) as server:
        session = Session(store, server)
        for mark, text in texts.items():
            session.save(mark, text)
        yield from quality({store.who: lambda query: [texts[mark] for mark in session.search(query) if mark in texts]})


def measured(store: Store) -> Iterator[Figure]:
    """A server that fails at one step is not measured in the next."""
    why = ""
    for whats, measure in ((LIST, started), (USE, used), (FOUND, finding)):
        print(f"- {store.who}: {measure.__name__}", file=sys.stderr, flush=True)
        try:
            figures = [] if why else list(measure(store))
        except (ServerError, PeerMissingError) as error:
            why = _sentence(str(error))
        yield from [Figure(what, store.who, None, why=why) for what in whats] if why else figures


def _sentence(reason: str) -> str:
    return " ".join(reason.split())[:300].rstrip(".") + "."


def main() -> list[Figure]:
    return [figure for store in stores() for figure in measured(store)]


if __name__ == "__main__":
    print(table(main()))
