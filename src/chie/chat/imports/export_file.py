"""The conversations in an export file, a ZIP or its `conversations.json`, one at a time."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import IO

from chie.chat.imports import chatgpt, claude
from chie.chat.imports.entities import DamagedConversationError, ImportedConversation, SkippedConversation
from chie.chat.imports.json_array import BrokenArrayError, elements
from chie.chat.imports.json_values import optional_record, text
from chie.errors import ValidationError
from chie.messages.catalogue import Message

MAX_UNPACKED = 4 * 1024**3
MAX_CONVERSATION = 64 * 1024**2
MAX_MESSAGES = 20_000
_NAME = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json$")
_DAMAGE = (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, OverflowError, ValueError)
_ZIP = b"PK\x03\x04"

Found = ImportedConversation | SkippedConversation


def conversations(file: IO[bytes]) -> Iterator[Found]:
    """ValidationError if the file is no export. A damaged conversation is found as a skipped one."""
    start = file.read(4)
    file.seek(0)
    if start == _ZIP:
        yield from _in_archive(file)
    else:
        yield from _in_json(file)


def _in_archive(file: IO[bytes]) -> Iterator[Found]:
    try:
        archive = zipfile.ZipFile(file)
        names = sorted(name for name in archive.namelist() if _NAME.search(name))
    except _DAMAGE:
        raise ValidationError("imports.damaged_file") from None
    if not names:
        raise ValidationError("imports.no_conversations")
    budget = MAX_UNPACKED
    for name in names:
        try:
            stream = archive.open(name)
        except _DAMAGE:
            raise ValidationError("imports.damaged_file") from None
        with stream:
            counted = _Counted(stream.read, budget)
            yield from _in_json(counted)
            if (budget := counted.left) < 0:
                return


class _Counted:
    """Reads until more is unpacked than an export has, whatever the archive says about its sizes."""

    def __init__(self, read: Callable[[int], bytes], left: int) -> None:
        self._read = read
        self.left = left

    def read(self, size: int) -> bytes:
        try:
            data = self._read(size)
        except _DAMAGE:
            raise ValidationError("imports.damaged_file") from None
        self.left -= len(data)
        if self.left < 0:
            raise ValidationError("imports.too_large", limit=MAX_UNPACKED // 1024**3)
        return data


def _in_json(stream: "IO[bytes] | _Counted") -> Iterator[Found]:
    """What comes before the damage is kept; without anything before it, the file is refused."""
    count = 0
    try:
        for element in elements(stream.read, limit=MAX_CONVERSATION):
            count += 1
            yield _conversation(element, count)
    except BrokenArrayError:
        if count == 0:
            raise ValidationError("imports.not_an_export") from None
        yield SkippedConversation(title="", reason=Message("imports.file_ends", count=count))
    except ValidationError as error:
        if count == 0:
            raise
        yield SkippedConversation(title="", reason=error.reason)


def _conversation(element: bytes | None, number: int) -> Found:
    if element is None:
        return SkippedConversation(title=f"#{number}", reason=Message("imports.conversation_too_large"))
    title = f"#{number}"
    try:
        value = optional_record(json.loads(element))
        title = text(value.get("title")) or text(value.get("name")) or title
        found = _read(value)
    except (ValueError, RecursionError):
        return SkippedConversation(title=title, reason=Message("imports.conversation_damaged"))
    if found is None:
        return SkippedConversation(title=title, reason=Message("imports.conversation_unknown"))
    if not found.messages:
        return SkippedConversation(title=title, reason=Message("imports.conversation_empty"))
    if len(found.messages) > MAX_MESSAGES:
        return SkippedConversation(title=title, reason=Message("imports.conversation_too_large"))
    return found


def _read(value: dict[str, object]) -> ImportedConversation | None:
    if "mapping" in value:
        return chatgpt.read(value)
    if "chat_messages" in value:
        return claude.read(value)
    if not value:
        raise DamagedConversationError
    return None
