"""Checks of the model endpoints that an admin added in the page."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.database.settings import DatabaseSettings, database_url
from chie.database.url import SqliteUrl
from chie.doctor.finding import Finding
from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.settings import load

if TYPE_CHECKING:
    from chie.chat.models.base import ChatModel
    from chie.chat.models.provider import EndpointSpec, ModelProvider


async def check_added_endpoints() -> Sequence[Finding]:
    """Nothing if there are none, or no database that has them. What is wrong is corrected in the page."""
    specs = await _specs()
    return await asyncio.gather(*map(_check, specs))


async def _check(spec: "EndpointSpec") -> Finding:
    provider = _provider(spec)
    try:
        names, error = await provider.names()
    finally:
        await provider.close()
    if error is not None:
        return Finding(spec.name, "problem", error.reason)
    if not names:
        return Finding(spec.name, "problem", Message("endpoints.no_models", name=spec.name))
    return Finding(spec.name, "ok", Message("doctor.endpoint_ok", count=len(names), model=names[0]))


async def _specs() -> "list[EndpointSpec]":
    """The check of the database reports a database that cannot be read."""
    from sqlalchemy.exc import SQLAlchemyError

    from chie.chat.endpoints.specs import spec_of
    from chie.chat.sessions.database import Database
    from chie.chat.sessions.endpoints import EndpointStore
    from chie.chat.sessions.secret_box import SecretBox
    from chie.database.engine import sqlalchemy_url

    settings = load(DatabaseSettings)
    url = database_url(settings)
    if isinstance(url, SqliteUrl) and not url.path.exists():
        return []
    database = Database(sqlalchemy_url(url))
    try:
        stored = await EndpointStore(database, SecretBox(settings.home.expanduser())).list()
        return [spec_of(endpoint) for endpoint in stored]
    except (ChieError, SQLAlchemyError):
        return []
    finally:
        await database.close()


def _provider(spec: "EndpointSpec") -> "ModelProvider":
    from chie.chat.models.anthropic_provider import AnthropicProvider
    from chie.chat.models.bedrock_provider import BedrockProvider
    from chie.chat.models.openai_provider import OpenAIProvider
    from chie.setup.endpoints import CLAUDE_AGENT

    if spec.kind == "bedrock":
        return BedrockProvider(spec)
    if spec.kind == "openai":
        return OpenAIProvider(spec)
    return AnthropicProvider(spec, lambda: None if CLAUDE_AGENT.install else _unused)


def _unused(*_: object) -> "ChatModel":
    raise NotImplementedError  # a list of models needs no adapter
