"""Heads in the order of a number. The service cannot sort, so the range is narrowed until one page holds it."""

from collections.abc import Sequence
from typing import NamedTuple

from chie.knowledge.store.vector_search.client import Data, VectorSearchClient
from chie.knowledge.store.vector_search.filters import Filter, all_of


class Place(NamedTuple):
    """Where a list stopped: the number, and the note that had it."""

    number: int
    note: str


class Order(NamedTuple):
    field: str
    descending: bool = False

    def sort(self, objects: Sequence[Data]) -> list[Data]:
        return sorted(objects, key=self.place, reverse=self.descending)

    def place(self, data: Data) -> Place:
        return Place(int(data[self.field]), data["note"])

    def behind(self, place: Place, data: Data) -> bool:
        return self.place(data) < place if self.descending else self.place(data) > place

    def past(self, number: int) -> Filter:
        return {self.field: {"$lt" if self.descending else "$gt": number}}

    def until(self, number: int) -> Filter:
        return {self.field: {"$gte" if self.descending else "$lte": number}}


def first(
    client: VectorSearchClient,
    conditions: Sequence[Filter],
    order: Order,
    *,
    limit: int,
    fields: Sequence[str],
    after: Place | None = None,
) -> list[Data]:
    """The first `limit` objects behind `after`."""
    if after is None:
        return _leading(client, conditions, order, limit, fields)
    same = client.every(all_of(*conditions, {order.field: {"$eq": after.number}}), fields)
    found = order.sort([data for data in same if order.behind(after, data)])
    if len(found) < limit:
        found += _leading(client, [*conditions, order.past(after.number)], order, limit - len(found), fields)
    return found[:limit]


def _leading(
    client: VectorSearchClient, conditions: Sequence[Filter], order: Order, limit: int, fields: Sequence[str]
) -> list[Data]:
    """A page of any objects has `limit` of them up to some number, so the ones looked for are up to it too. A few such
    steps leave a range that fits a page; where they stop helping, the rest is read."""
    edge: int | None = None
    while True:
        where = all_of(*conditions, *([order.until(edge)] if edge is not None else []))
        found, token = client.page(where, fields)
        found = order.sort(found)
        if not token:
            return found[:limit]
        nearer = int(found[limit - 1][order.field]) if len(found) >= limit else edge
        if nearer == edge:
            return order.sort([*found, *client.every(where, fields, token)])[:limit]
        edge = nearer
