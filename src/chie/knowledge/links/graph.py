"""The graph of links: notes that link to each other, as far as the viewer sees them."""

from collections import Counter
from dataclasses import dataclass

from chie.knowledge.service import KnowledgeService

MAX_GRAPH_NOTES = 1_000  # readable, and quick to lay out in a browser
MAX_GRAPH_LINKS = 5_000
MAX_READ = 20_000  # links of the newest notes


@dataclass(frozen=True, kw_only=True)
class GraphNote:
    id: str
    title: str
    tags: list[str]


@dataclass(frozen=True, kw_only=True)
class GraphLink:
    """Positions of two notes in the list; `source` links to `target`."""

    source: int
    target: int


@dataclass(frozen=True, kw_only=True)
class Graph:
    """`total` counts the linked notes. Of too many, those with the most links are in the graph."""

    notes: list[GraphNote]
    links: list[GraphLink]
    total: int


def link_graph(service: KnowledgeService) -> Graph:
    store, viewer = service.store, service.viewer()
    rows = store.link_rows(viewer=viewer, limit=MAX_READ)
    found = store.resolve_links(list({target for _, target in rows}), viewer=viewer)
    pairs = [(note, found[target]) for note, target in rows if target in found and found[target].id != note.id]
    edges = {(source.id, target.id): None for source, target in pairs}
    linked = {note.id: note for pair in pairs for note in pair}
    degrees = Counter(note_id for edge in edges for note_id in edge)
    chosen = sorted(linked, key=lambda note_id: -degrees[note_id])[:MAX_GRAPH_NOTES]
    positions = {note_id: number for number, note_id in enumerate(chosen)}
    tags = store.tags_of(chosen) if chosen else {}
    return Graph(
        notes=[GraphNote(id=one, title=linked[one].title, tags=tags.get(one, [])) for one in chosen],
        links=[
            GraphLink(source=positions[source], target=positions[target])
            for source, target in edges
            if source in positions and target in positions
        ][:MAX_GRAPH_LINKS],
        total=len(linked),
    )
