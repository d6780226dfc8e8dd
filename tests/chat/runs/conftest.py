"""Fixtures of the chat tests."""

from tests.fakes.chat import both, chat, chat_on_both, postgres

__all__ = ["both", "chat", "chat_on_both", "postgres"]
