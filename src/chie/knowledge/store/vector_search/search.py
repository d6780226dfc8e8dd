"""One search: by meaning and by words, fused by the service; the best passage of each note.

The service ranks (Reciprocal Rank Fusion) but its number for that is a rank in disguise, so the score that we show is
the similarity of the passage, asked for beside. A passage that the service puts before a more similar one, because the
words asked for stand in it, gets that one's score: the order is the service's, and the score never contradicts it.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from chie.knowledge.note import Hit
from chie.knowledge.ranking import FLOOR, shown
from chie.knowledge.store.vector_search.client import PAGE, Data, Scored, VectorSearchClient
from chie.knowledge.store.vector_search.filters import HEADS, Filter, all_of, looking, of_notes
from chie.knowledge.store.vector_search.objects import FOUND, HEADING, VECTOR, object_id
from chie.knowledge.tokens import fold, phrase, query_tokens

PASSAGES = 100  # taken at first; more where they turn out to be of too few notes
HEADS_AT_ONCE = 100


@dataclass(frozen=True)
class Ranked:
    """A passage, with what it is like the query."""

    data: Data
    similarity: float


@dataclass(frozen=True)
class Search:
    client: VectorSearchClient
    query: str
    viewer: str
    tags: Sequence[str]

    def hits(self, limit: int) -> list[Hit]:
        for passages in (max(PASSAGES, 2 * limit), PAGE):
            ranked = self._ranked(passages)
            best = self._best(ranked, limit)
            if len(best) >= limit or len(ranked) < passages:
                break
        return _hits(best)

    def _ranked(self, top_k: int) -> list[Ranked]:
        where = all_of(*looking(self.viewer, self.tags))
        meaning = semantic(self.query, "RETRIEVAL_QUERY", where, top_k, FOUND)
        words = query_tokens(self.query)
        if not words:
            near = self.client.search(meaning)
            return self._compared(near, near, words)
        text = {
            "search_text": " ".join(words),
            "data_field_names": ["words"],
            "filter": where,
            "top_k": top_k,
            "output_fields": {"data_fields": FOUND},
        }
        with ThreadPoolExecutor(1) as beside:
            similar = beside.submit(self.client.search, meaning)
            searches = [{"semantic_search": meaning}, {"text_search": text}]
            fused = self.client.fuse(searches, top_k=top_k, fields=FOUND)
            return self._compared(fused, similar.result(), words)

    def _compared(self, fused: Sequence[Scored], near: Sequence[Scored], words: Sequence[str]) -> list[Ranked]:
        """In the fused order. A passage found by its words alone is less like the query than any that was found near;
        one that has neither the words nor the meaning is no answer."""
        known = {object_id(one.data): similarity(one) for one in near}
        least = min(known.values(), default=0.0)
        ranked = [Ranked(one.data, known.get(object_id(one.data), least)) for one in fused]
        return [one for one in ranked if one.similarity >= FLOOR or self._says(one.data, set(words))]

    def _says(self, data: Data, words: set[str]) -> bool:
        if words and words <= set(data["words"].split()):
            return True
        return phrase(fold(self.query)).search(fold(f"{data['title']}\n{data['text']}")) is not None

    def _best(self, ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
        """The first passage of each note that belongs to it as it is now, not as it was before a change."""
        heads = {one.data["note"]: one.data for one in ranked if not one.data["part"]}
        heads |= self._heads([note for note in dict.fromkeys(one.data["note"] for one in ranked) if note not in heads])
        best: dict[str, Ranked] = {}
        for one in ranked:
            head = heads.get(one.data["note"])
            if head is not None and head["revision"] == one.data["revision"]:
                best.setdefault(head["note"], Ranked(head | {"text": one.data["text"]}, one.similarity))
        return list(best.values())[:limit]

    def _heads(self, notes: Sequence[str]) -> dict[str, Data]:
        parts = [notes[start : start + HEADS_AT_ONCE] for start in range(0, len(notes), HEADS_AT_ONCE)]
        found = (data for part in parts for data in self.client.every(all_of(HEADS, of_notes(part)), HEADING))
        return {data["note"]: data for data in found}


def semantic(text: str, task: str, where: Filter, top_k: int, fields: Sequence[str]) -> Data:
    """A search by meaning; the service makes the vector, for the task that is named."""
    return {
        "search_text": text,
        "search_field": VECTOR,
        "task_type": task,
        "filter": where,
        "top_k": top_k,
        "output_fields": {"data_fields": list(fields)},
        "search_hint": {"knn_hint": {}},  # exact, and sees what was written a moment ago
    }


def similarity(scored: Scored) -> float:
    """The service multiplies unit vectors: higher is closer, whatever the field's name says."""
    return min(max(scored.distance or 0.0, 0.0), 1.0)


def _hits(best: Sequence[Ranked]) -> list[Hit]:
    hits: list[Hit] = []
    score = 0.0
    for passage in reversed(best):
        score = max(score, passage.similarity)
        hits.append(_hit(passage.data, score))
    return hits[::-1]


def _hit(data: Data, score: float) -> Hit:
    return Hit(
        id=data["note"],
        title=data["title"],
        content=data["text"].strip(),
        score=shown(score),
        tags=list(data["tags"]),
        source=data["source"] or None,
        status=data["status"] or None,
        user_id=data["user_id"],
        private=data["private"],
        created_at=datetime.fromisoformat(data["created_at"]),
        updated_at=datetime.fromisoformat(data["updated_at"]),
        partial=data["parts"] > 1,
    )
