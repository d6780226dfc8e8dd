"""Notes and passages that pass the filters of a query."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from chie.knowledge.note import Note
from chie.knowledge.search.query import Filters, ascii_lower
from chie.knowledge.search.tokens import phrase_terms
from chie.knowledge.store import private_terms
from chie.knowledge.store.postgres import note_table
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.visibility import visible_by_name
from chie.knowledge.store.scoring import least_terms
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

_WITH_TERMS = (
    "n.seq IN (SELECT p.note FROM unnest(%(numbers_{0})s::int[], %(terms_{0})s::text[]) AS t (number, term)"
    " JOIN knowledge_passages p ON p.terms @> ARRAY[t.term]"
    " GROUP BY p.note HAVING count(DISTINCT t.number) >= %(least_{0})s)"
)


def passage_filter(connection: "Connection", labels: list[str], filters: Filters, viewer: Viewer) -> PassageFilter:
    """Phrases are looked for here, in the notes that can have them, because PostgreSQL folds text differently."""
    conditions, values = list[str](), dict[str, Any]()
    for condition, more in _of_fields(filters):
        conditions.append(condition)
        values |= more
    narrowed = PassageFilter(labels, viewer, tuple(conditions), values)
    if filters.phrases:
        conditions.append("{note} = ANY(%(having)s::bigint[])")
        read = _that_can_have(connection, filters.phrases, " AND ", narrowed)
        values["having"] = sorted(seq for seq, title, content in read if filters.accept_text(title, content))
    elif filters.excluded:
        conditions.append("{note} <> ALL(%(without)s::bigint[])")
        read = _that_can_have(connection, filters.excluded, " OR ", narrowed)
        values["without"] = sorted(seq for seq, title, content in read if not filters.accept_text(title, content))
    return PassageFilter(labels, viewer, tuple(conditions), values)


def newest(connection: "Connection", passing: PassageFilter, limit: int) -> list[Note]:
    found = connection.execute(
        f"SELECT n.seq FROM knowledge_notes n WHERE {visible_by_name(passing.viewer, 'n.')}"
        f"{passing.narrowing('n.', note='seq')}"
        " ORDER BY n.created_at DESC, n.id DESC LIMIT %(limit)s",
        passing.values | {"limit": limit},
    )
    seqs = [row[0] for row in found]
    notes = note_table.parse_many(note_table.select_many(seqs).run(connection))
    return [notes[seq] for seq in seqs]


def _of_fields(filters: Filters) -> Iterator[tuple[str, dict[str, Any]]]:
    if filters.without_tags:
        yield "NOT {labels} && %(unwanted)s::text[]", {"unwanted": note_table.labels(filters.without_tags)}
    wanted = {
        "lower(f.user_id) = ANY(%(authors)s::text[])": ("authors", [ascii_lower(author) for author in filters.authors]),
        "f.updated_at >= %(after)s::timestamptz": ("after", filters.after),
        "f.updated_at < %(before)s::timestamptz": ("before", filters.before),
    }
    fields = {sql: pair for sql, pair in wanted.items() if pair[1]}
    if fields:
        yield f"{{note}} IN (SELECT f.seq FROM knowledge_notes f WHERE {' AND '.join(fields)})", dict(fields.values())


def _that_can_have(
    connection: "Connection", phrases: Sequence[str], operator: str, passing: PassageFilter
) -> Iterator[tuple[int, str, str]]:
    """The notes that can have all or any of the phrases, among those that pass: each is read once."""
    conditions, values = list[str](), dict[str, Any]()
    for number, phrase in enumerate(phrases):
        terms = phrase_terms(phrase)
        lookups = [
            (word, indexed)
            for word, words in enumerate(terms)
            for indexed in private_terms.visible_terms(map(note_table.index_key, words), passing.viewer.audiences)
        ]
        conditions.append(_WITH_TERMS.format(number) if terms else "true")
        values |= {
            f"numbers_{number}": [word for word, _ in lookups],
            f"terms_{number}": [indexed for _, indexed in lookups],
            f"least_{number}": least_terms(terms),
        }
    found = connection.execute(
        f"SELECT n.seq, n.title, n.content FROM knowledge_notes n WHERE {visible_by_name(passing.viewer, 'n.')}"
        f"{passing.narrowing('n.', note='seq')} AND ({operator.join(conditions)})",
        passing.values | values,
    )
    yield from found
