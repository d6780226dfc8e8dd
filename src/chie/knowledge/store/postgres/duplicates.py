"""Notes that say nearly the same as a vector."""

from typing import TYPE_CHECKING

from chie.knowledge.note import Similar
from chie.knowledge.search import ranking
from chie.knowledge.store.postgres import nearest, statistics
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.sql_store import EmbeddingModel
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection


def near_duplicates(
    connection: "Connection", model: EmbeddingModel, vector: "Vectors", count: int, viewer: Viewer
) -> list[Similar]:
    """The most similar first."""
    stats = statistics.read(connection, model.name, viewer)
    scan = nearest.first_scan(stats, model.dimension, PassageFilter([], viewer), count, few=False)
    near = dict(nearest.nearest(connection, scan, vector))
    found = connection.execute(
        "SELECT p.id, n.id, n.title FROM knowledge_passages p JOIN knowledge_notes n ON n.seq = p.note"
        " WHERE p.id = ANY(%s)",
        (list(near),),
    )
    names = {passage: (note_id, title) for passage, note_id, title in found}
    return [
        Similar(id=names[passage][0], title=names[passage][1], score=ranking.display_score(cosine))
        for passage, cosine in sorted(near.items(), key=lambda item: (-item[1], item[0]))
        if cosine >= ranking.NEAR_DUPLICATE_COSINE
    ]
