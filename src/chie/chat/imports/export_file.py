"""The conversations in an export file, a ZIP or its `conversations.json`, one at a time."""

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from struct import Struct
from typing import IO

from chie.chat.imports import chatgpt, claude
from chie.chat.imports.entities import (
    DamagedConversationError,
    ImportedConversation,
    LargeConversationError,
    SkippedConversation,
)
from chie.chat.imports.json_stream import BrokenArrayError, Omitted, elements
from chie.chat.imports.json_values import optional_record, text
from chie.errors import ValidationError
from chie.messages.catalogue import Message

MAX_UNPACKED = 4 * 1024**3
MAX_RATIO, SMALL = 100, 32 * 1024**2  # an export unpacks to some 10 times its size; a small one may be all spaces
MAX_DIRECTORY = 8 * 1024**2  # the archive's list of files, which is read whole
MAX_CONVERSATION = 32 * 1024**2
_NAME = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json$")
_DAMAGE = (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, OverflowError, ValueError)
_ZIP = b"PK\x03\x04"
_END, _END_64, _LOCATOR_64 = Struct("<4s8xL"), Struct("<4s36xQ"), Struct("<4s4xQ")
_END_SIZE = 22 + 2**16  # with the longest comment

Read = Callable[[int], bytes]
Found = ImportedConversation | SkippedConversation


class StoppedError(Exception):
    """Nobody waits for the rest of the file."""


class ExportFile:
    """A file of conversations, which is read in a thread of its own."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._stopped = False

    def stop(self) -> None:
        """From any thread: reading ends within a moment."""
        self._stopped = True

    def conversations(self) -> Iterator[Found | None]:
        """None says that more has to be read. ValidationError if the file is no export. A damaged conversation is found
        as a skipped one."""
        start = self._file.read(4)
        self._file.seek(0)
        if start == _ZIP:
            yield from self._in_archive()
        else:
            yield from _in_json(self._checked(self._file.read))

    def _in_archive(self) -> Iterator[Found | None]:
        try:
            budget = _Budget(_archive_size(self._file))
            archive = zipfile.ZipFile(self._file)
            names = sorted(name for name in archive.namelist() if _NAME.search(name))
        except _DAMAGE:
            raise ValidationError("imports.damaged_file") from None
        if not names:
            raise ValidationError("imports.no_conversations")
        for name in names:
            try:
                stream = archive.open(name)
            except _DAMAGE:
                raise ValidationError("imports.damaged_file") from None
            with stream:
                yield from _in_json(budget.counted(self._checked(stream.read)))
            if budget.left < 0:
                return

    def _checked(self, read: Read) -> Read:
        def checked(size: int) -> bytes:
            if self._stopped:
                raise StoppedError
            return read(size)

        return checked


class _Budget:
    """Ends reading once more is unpacked than an export has, whatever the archive says about its sizes."""

    def __init__(self, size: int) -> None:
        self.left = min(MAX_UNPACKED, max(SMALL, MAX_RATIO * size))
        self._is_largest = self.left == MAX_UNPACKED

    def counted(self, read: Read) -> Read:
        def counted(size: int) -> bytes:
            try:
                data = read(size)
            except _DAMAGE:
                raise ValidationError("imports.damaged_file") from None
            self.left -= len(data)
            if self.left >= 0:
                return data
            if self._is_largest:
                raise ValidationError("imports.too_large", limit=MAX_UNPACKED // 1024**3)
            raise ValidationError("imports.too_compressed", ratio=MAX_RATIO)

        return counted


def _archive_size(file: IO[bytes]) -> int:
    """ValidationError for an archive whose list of files would take too much memory."""
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _END_SIZE))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at >= 0 and len(tail) - at >= _END.size:
        listed = _END.unpack_from(tail, at)[1]
        if start + at >= 20 and tail[max(0, at - 20) :].startswith(b"PK\x06\x07"):
            file.seek(_LOCATOR_64.unpack_from(tail, at - 20)[1])
            listed = _END_64.unpack(file.read(_END_64.size))[1]
        if listed > MAX_DIRECTORY:
            raise ValidationError("imports.too_many_files")
    file.seek(0)
    return size


def _in_json(read: Read) -> Iterator[Found | None]:
    """What comes before the damage is kept; without anything before it, the file is refused."""
    count = 0
    try:
        for element in elements(read, limit=MAX_CONVERSATION):
            if element is Omitted.PENDING:
                yield None
                continue
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


def _conversation(element: object, number: int) -> Found:
    title = f"#{number}"
    if isinstance(element, Omitted):
        large, damaged = Message("imports.conversation_too_large"), Message("imports.conversation_damaged")
        return SkippedConversation(title=title, reason=large if element is Omitted.TOO_LARGE else damaged)
    try:
        value = optional_record(element)
        title = text(value.get("title")) or text(value.get("name")) or title
        found = _read(value)
    except LargeConversationError:
        return SkippedConversation(title=title, reason=Message("imports.conversation_too_large"))
    except (ValueError, RecursionError):
        return SkippedConversation(title=title, reason=Message("imports.conversation_damaged"))
    if found is None:
        return SkippedConversation(title=title, reason=Message("imports.conversation_unknown"))
    if not found.messages:
        return SkippedConversation(title=title, reason=Message("imports.conversation_empty"))
    return found


def _read(value: dict[str, object]) -> ImportedConversation | None:
    if "mapping" in value:
        return chatgpt.read(value)
    if "chat_messages" in value:
        return claude.read(value)
    if not value:
        raise DamagedConversationError
    return None
