"""The fixtures of the chat's tests."""

from tests.fakes.chat import both, chat, postgres

__all__ = ["both", "chat", "postgres"]
