"""Notices for results that were produced without the embedding model."""

from chie.messages.catalogue import Message


def saved_without_vectors(reason: Message) -> Message:
    return Message("knowledge.saved_without_vectors", reason=reason)


def searched_by_words(reason: Message) -> Message:
    return Message("knowledge.searched_by_words", reason=reason)


def indexing_in_progress(passages: int) -> Message:
    return Message("knowledge.indexing_in_progress", count=passages)
