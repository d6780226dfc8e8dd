"""One search: semantic and lexical, fused by the service; the best passage of each note.

The order is the service's (Reciprocal Rank Fusion). Its fused score only encodes a rank, so hits show the similarity
from a second, semantic search. A passage that the service ranks above a more similar one gets the score of that one,
so that scores never contradict the order.

The service filters by tags and visibility. Its language cannot express the other filters of a query, and passages do
not carry what they need, so those are checked in the results, of which there are up to MAX_PAGE_SIZE then.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from chie.knowledge.anchors.anchor import decode_anchor
from chie.knowledge.note import Hit
from chie.knowledge.search.query import NO_FILTERS, Filters
from chie.knowledge.search.ranking import MIN_SIMILARITY, display_score
from chie.knowledge.search.tokens import fold, phrase, query_tokens
from chie.knowledge.store.vector_search.client import MAX_PAGE_SIZE, Data, SearchResult, VectorSearchClient
from chie.knowledge.store.vector_search.filters import HEADS, Filter, all_of, batches, of_notes, searchable
from chie.knowledge.store.vector_search.objects import (
    HEADING,
    SEARCH_FIELDS,
    VECTOR,
    WHOLE,
    common_fields,
    note_of,
    object_id,
)
from chie.knowledge.viewer import Viewer

MIN_CANDIDATES = 100  # passages; MAX_PAGE_SIZE if they belong to too few notes


@dataclass(frozen=True)
class RankedPassage:
    data: Data
    similarity: float


@dataclass(frozen=True)
class Search:
    client: VectorSearchClient
    query: str
    viewer: Viewer
    tags: Sequence[str]
    filters: Filters = NO_FILTERS

    def hits(self, limit: int) -> list[Hit]:
        for passages in (max(MIN_CANDIDATES, 2 * limit), MAX_PAGE_SIZE):
            ranked = self._ranked(passages)
            best = self._best(ranked, limit)
            if len(best) >= limit or len(ranked) < passages:
                break
        return _hits(best)

    def _ranked(self, top_k: int) -> list[RankedPassage]:
        where = all_of(*searchable(self.viewer, self.tags))
        meaning = semantic(self.query, "RETRIEVAL_QUERY", where, top_k, SEARCH_FIELDS)
        words = query_tokens(self.query)
        if not words:
            near = self.client.search(meaning)
            return self._compared(near, near, words)
        text = {
            "search_text": " ".join(words),
            "data_field_names": ["words"],
            "filter": where,
            "top_k": top_k,
            "output_fields": {"data_fields": SEARCH_FIELDS},
        }
        with ThreadPoolExecutor(1) as executor:
            similar = executor.submit(self.client.search, meaning)
            searches = [{"semantic_search": meaning}, {"text_search": text}]
            fused = self.client.fuse(searches, top_k=top_k, fields=SEARCH_FIELDS)
            return self._compared(fused, similar.result(), words)

    def _compared(
        self, fused: Sequence[SearchResult], near: Sequence[SearchResult], words: Sequence[str]
    ) -> list[RankedPassage]:
        """In the fused order, with similarities. A passage that only the lexical search found gets the lowest of the
        similarities. Passages that match neither by meaning nor by all words are left out."""
        similarities = {object_id(one.data): similarity(one) for one in near}
        least = min(similarities.values(), default=0.0)
        ranked = [RankedPassage(one.data, similarities.get(object_id(one.data), least)) for one in fused]
        return [one for one in ranked if one.similarity >= MIN_SIMILARITY or self._matches_words(one.data, set(words))]

    def _matches_words(self, data: Data, words: set[str]) -> bool:
        if words and words <= set(data["words"].split()):
            return True
        return phrase(fold(self.query)).search(fold(f"{data['title']}\n{data['text']}")) is not None

    def _best(self, ranked: Sequence[RankedPassage], limit: int) -> list[RankedPassage]:
        """The first passage of each note, of the note's current revision only."""
        heads = {one.data["note"]: one.data for one in ranked if not one.data["part"] and not self.filters}
        heads |= self._heads([note for note in dict.fromkeys(one.data["note"] for one in ranked) if note not in heads])
        if self.filters:
            heads = {note: data for note, data in heads.items() if self.filters.accept(note_of(data))}
        best: dict[str, RankedPassage] = {}
        for one in ranked:
            head = heads.get(one.data["note"])
            if head is not None and head["revision"] == one.data["revision"]:
                best.setdefault(head["note"], RankedPassage(head | {"text": one.data["text"]}, one.similarity))
        return list(best.values())[:limit]

    def _heads(self, notes: Sequence[str]) -> dict[str, Data]:
        fields = WHOLE if self.filters else HEADING
        found = (data for ids in batches(notes) for data in self.client.every(all_of(HEADS, of_notes(ids)), fields))
        return {data["note"]: data for data in found}


def semantic(text: str, task: str, where: Filter, top_k: int, fields: Sequence[str]) -> Data:
    """A semantic search; the service embeds the text for the task type."""
    return {
        "search_text": text,
        "search_field": VECTOR,
        "task_type": task,
        "filter": where,
        "top_k": top_k,
        "output_fields": {"data_fields": list(fields)},
        "search_hint": {"knn_hint": {}},  # exact, and includes the latest writes
    }


def similarity(result: SearchResult) -> float:
    """The `distance` is a dot product of unit vectors, so higher is closer."""
    return min(max(result.distance or 0.0, 0.0), 1.0)


def _hits(best: Sequence[RankedPassage]) -> list[Hit]:
    hits: list[Hit] = []
    score = 0.0
    for passage in reversed(best):
        score = max(score, passage.similarity)
        hits.append(_hit(passage.data, score))
    return hits[::-1]


def _hit(data: Data, score: float) -> Hit:
    content = data["text"].strip()
    return Hit(
        **common_fields(data),
        content=content,
        score=display_score(score),
        anchor=decode_anchor(data.get("anchor")),
        partial=data["parts"] > 1,
    )
