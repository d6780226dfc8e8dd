"""Results of searches and saves with the notice as English text, for MCP tools and the command line."""

from dataclasses import dataclass

from chie.knowledge.note import Found, Hit, Saved, SavedNote


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """`notice` is set if only part of the search could run."""

    hits: list[Hit]
    notice: str | None = None

    @classmethod
    def of(cls, found: Found) -> "SearchResult":
        return cls(hits=found.hits, notice=str(found.notice) if found.notice else None)


@dataclass(frozen=True, kw_only=True)
class SaveResult(SavedNote):
    notice: str | None = None

    @classmethod
    def of(cls, saved: Saved) -> "SaveResult":
        return cls(**(vars(saved) | {"notice": str(saved.notice) if saved.notice else None}))
