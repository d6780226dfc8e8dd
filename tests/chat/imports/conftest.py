"""The fixtures of the chat's tests."""

from tests.fakes.chat import both, chat, chat_on_both, postgres

__all__ = ["both", "chat", "chat_on_both", "postgres"]
