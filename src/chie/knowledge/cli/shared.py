"""What the commands of notes and of the inbox share: the service, input and output."""

import codecs
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from pydantic_core import to_jsonable_python

from chie.errors import NotFoundError, ValidationError
from chie.knowledge.service import KnowledgeService
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.messages.catalogue import Message
from chie.settings import load


@contextmanager
def open_service() -> Iterator[KnowledgeService]:
    settings = load(KnowledgeSettings)
    store = create_store(settings)
    try:
        yield KnowledgeService(store, trash_days=settings.trash_days)
    except NotFoundError as error:
        if error.code != "knowledge.note_not_found":
            raise
        # Its text names MCP tools.
        raise NotFoundError("knowledge.cli_note_not_found") from error
    except ValidationError as error:
        if error.code == "knowledge.secret_found":  # its text is for assistants, who may not store secrets
            raise ValidationError("knowledge.cli_secret_found", **error.reason.params) from error
        raise
    finally:
        store.close()


def print_json(value: Any) -> None:  # noqa: ANN401
    """Dates as in MCP results; non-ASCII text is escaped unless the output is UTF-8."""
    lossless = codecs.lookup(sys.stdout.encoding).name == "utf-8"
    click.echo(json.dumps(to_jsonable_python(value), ensure_ascii=not lossless, indent=2))


def standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValidationError("knowledge.stdin_not_utf8") from error


def echo_notice(notice: Message | None) -> None:
    if notice:
        click.echo(str(notice), err=True)
