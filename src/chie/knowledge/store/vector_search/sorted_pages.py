"""Objects sorted by a number. The service does not sort, so the range is narrowed until it fits one page."""

from collections.abc import Sequence
from typing import NamedTuple

from chie.knowledge.store.vector_search.client import Data, VectorSearchClient
from chie.knowledge.store.vector_search.filters import Filter, all_of


class Position(NamedTuple):
    """The last object of a page: its number, and the note that has it."""

    number: int
    note: str


class SortOrder(NamedTuple):
    field: str
    descending: bool = False

    def sort(self, objects: Sequence[Data]) -> list[Data]:
        return sorted(objects, key=self.position, reverse=self.descending)

    def position(self, data: Data) -> Position:
        return Position(int(data[self.field]), data["note"])

    def follows(self, position: Position, data: Data) -> bool:
        return self.position(data) < position if self.descending else self.position(data) > position

    def beyond(self, number: int) -> Filter:
        return {self.field: {"$lt" if self.descending else "$gt": number}}

    def up_to(self, number: int) -> Filter:
        return {self.field: {"$gte" if self.descending else "$lte": number}}


def first(
    client: VectorSearchClient,
    conditions: Sequence[Filter],
    order: SortOrder,
    *,
    limit: int,
    fields: Sequence[str],
    after: Position | None = None,
) -> list[Data]:
    """The first `limit` objects after the position."""
    if after is None:
        return _leading(client, conditions, order, limit, fields)
    same = client.every(all_of(*conditions, {order.field: {"$eq": after.number}}), fields)
    found = order.sort([data for data in same if order.follows(after, data)])
    if len(found) < limit:
        found += _leading(client, [*conditions, order.beyond(after.number)], order, limit - len(found), fields)
    return found[:limit]


def _leading(
    client: VectorSearchClient, conditions: Sequence[Filter], order: SortOrder, limit: int, fields: Sequence[str]
) -> list[Data]:
    """Any page bounds the range: its `limit` smallest numbers are at least the wanted ones. Repeating that narrows the
    range to one page; if it stops narrowing, the rest is read."""
    bound: int | None = None
    while True:
        where = all_of(*conditions, *([order.up_to(bound)] if bound is not None else []))
        page, token = client.page(where, fields)
        found = order.sort(page)
        if not token:
            return found[:limit]
        closer = int(found[limit - 1][order.field]) if len(found) >= limit else bound
        if closer == bound:
            return order.sort([*found, *client.every(where, fields, token)])[:limit]
        bound = closer
