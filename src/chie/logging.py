"""Log set-up. Logs go to stderr or a file, never to stdout, which carries the protocol of stdio servers."""

import logging
import os
import re
import sys
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from json import JSONEncoder
from pathlib import Path
from typing import Any
from uuid import uuid4

from chie.errors import ChieError, ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.files import append_line, make_folder

REQUEST_META = "chie/request"  # the key of the request id in the `_meta` of our MCP calls

CLIENT_ERRORS = (ValidationError, NotFoundError, ConflictError, ForbiddenError)

_REQUEST_ID = re.compile(r"[0-9a-f]{12}")

_request: ContextVar[str] = ContextVar("chie_request", default="-")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # C0 and C1, and other line separators

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"(?P<name>(?:authorization|x-n8n-api-key|api[-_]?key|password|passwd|secret|token)[\"']?\s*[:=]\s*[\"']?"
    r"(?:bearer\s+|basic\s+)?|bearer\s+)[^\s\"',;&]+|(?P<user>://[^/\s:@]*:)[^/\s@]+(?=@)"
    r"|\bchie_[\w-]{20,}",  # a token of `chie users`, anywhere
    re.IGNORECASE,
)
# Matches whatever starts like a JWT and puts it back if it is none, so that no text is scanned twice.
_JWT = re.compile(r"\beyJ[\w-]++(?P<rest>\.[\w-]++\.[\w-]*+)?", re.IGNORECASE)
# ASCII text without any of these matches neither pattern. Scanning every log line would cost more than writing it.
_SECRET_HINTS = tuple("authorization api-key api_key apikey passw secret token bearer :// chie_ eyj".split())

_json = JSONEncoder(ensure_ascii=False).encode

MIN_HIDDEN_LENGTH = 6  # masking shorter values would make texts unreadable
_hidden: list[str] = []  # the longest first, because one may be a part of another


def hide(*secrets: str) -> None:
    """Never write these values to a log: keys that are neither in the environment nor recognised by their form."""
    long = [secret for secret in secrets if len(secret) >= MIN_HIDDEN_LENGTH]
    forms = {form for secret in long for form in (secret, _json(secret)[1:-1], repr(secret)[1:-1])}
    if new := forms.difference(_hidden):
        _hidden[:] = sorted([*_hidden, *new], key=len, reverse=True)


def request_id() -> str:
    return _request.get()


def new_request_id(given: object = None) -> str:
    """Set the request id for the rest of this context, and for every log line in it; a valid `given` id is kept."""
    request = given if isinstance(given, str) and _REQUEST_ID.fullmatch(given) else uuid4().hex[:12]
    _request.set(request)
    return request


def configure(
    level: str = "WARNING", file: Path | None = None, *, activity: Path | None = None, rotate: bool = False
) -> None:
    """Set up logging once per process, before FastMCP is imported, which would add a handler and import Rich.

    `file` takes the place of stderr, and is rotated on request. `activity` is a file that gets every line of Chie from
    INFO on, and the warnings of the libraries. The handlers of frameworks are removed, so that every line is redacted.
    """
    os.environ["FASTMCP_LOG_ENABLED"] = "false"
    handlers = [_handler(file, rotate=rotate)]
    handlers[0].addFilter(_AtLeast(level.upper()))
    if activity:
        handlers += _activity_handlers(activity)
    root = logging.getLogger()
    root.handlers[:] = handlers
    root.setLevel(level.upper())
    if len(handlers) > 1:  # of the libraries, records that no handler takes are not even made
        logging.getLogger("chie").setLevel(min(root.level, logging.INFO))
    for name in ("fastmcp", "mcp", "uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # At DEBUG it logs the arguments of every call, with the users' texts in them.
    logging.getLogger("fastmcp.server.mixins.mcp_operations").setLevel(max(root.level, logging.INFO))


def add_error_file(name: str, file: Path) -> None:
    """Write the errors of the logger `name` and those below it to this file as well."""
    handler = LogFile(file)
    handler.setLevel(logging.ERROR)
    logging.getLogger(name).addHandler(handler)


def _handler(file: Path | None, *, rotate: bool) -> logging.Handler:
    """Falls back to stderr if the file cannot be opened: the server must start anyway."""
    if file is not None:
        try:
            return _opened(file, rotate=rotate)
        except OSError as error:
            _report(f"cannot log to {file} ({error.strerror}); logging to stderr instead")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    handler.addFilter(stamp)
    return handler


def _activity_handlers(file: Path) -> "list[logging.Handler]":
    """None if the file cannot be opened."""
    try:
        handler = _opened(file, rotate=True)
    except OSError as error:
        _report(f"cannot log to {file} ({error.strerror}); requests are not logged")
        return []
    handler.addFilter(_AtLeast("INFO"))
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.startswith("chie."))
    return [handler]


def _opened(file: Path, *, rotate: bool = False) -> "LogFile":
    """OSError if nothing can be written to the file."""
    make_folder(file.parent)
    append_line(file, "")
    return LogFile(file, rotate=rotate)


def stamp(record: logging.LogRecord) -> bool:
    record.request = request_id()
    return True


class _AtLeast(logging.Filter):
    """Lowers client errors to INFO, which FastMCP logs as errors, before it compares the level."""

    def __init__(self, level: str) -> None:
        super().__init__()
        self._level: int = logging.getLevelNamesMapping()[level]

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if record.name.startswith("fastmcp.") and isinstance(error, CLIENT_ERRORS):
            record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
        return record.levelno >= self._level


def _report(problem: str) -> None:
    """Nothing fails over its log. stderr is often a file on the same disk, which may be full."""
    with suppress(OSError):
        sys.stderr.write(f"{problem}\n")


class LogFile(logging.Handler):
    """JSON lines in a private file, which is created with the first line.

    With `rotate` the process that fills it rotates it; otherwise it belongs to the operator, who may rotate it at any
    time: it is opened anew for every line.
    """

    def __init__(self, file: Path, *, rotate: bool = False) -> None:
        super().__init__()
        self._file = file
        self._rotate = rotate
        self._reported = False
        self.setFormatter(JsonLines())
        self.addFilter(stamp)

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        try:
            self._append(f"{line}\n")
        except OSError as error:
            if not self._reported:
                self._reported = True
                _report(f"cannot log to {self._file} ({error.strerror})")

    def _append(self, line: str) -> None:
        try:
            append_line(self._file, line, rotate=self._rotate)
        except FileNotFoundError:
            make_folder(self._file.parent)
            append_line(self._file, line, rotate=self._rotate)


def redact(text: str) -> str:
    """Hide what looks like a secret, and the values of this process's secret settings."""
    text = masked(text)
    for name in filter(_is_secret_name, os.environ):
        if len(value := os.environ.get(name, "")) >= 8:
            text = text.replace(value, "***")
    if text.isascii() and not any(map(text.lower().__contains__, _SECRET_HINTS)):
        return text
    text = _SECRET_TEXT.sub(lambda found: f"{found['name'] or found['user'] or ''}***", text)
    return _JWT.sub(lambda found: "***" if found["rest"] else found.group(), text)


def masked(text: str) -> str:
    """Without the values that were given to `hide`, also as JSON and Python write them."""
    for secret in _hidden:
        text = text.replace(secret, "***")
    return text


@lru_cache
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _escaped(found: re.Match[str]) -> str:
    """The JSON escape of a character."""
    return f"\\u{ord(found.group()):04x}"


class OneLine(logging.Formatter):
    """`12:00:00 WARNING chie.knowledge [3f2a…] message`, without a stack for expected errors."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(_without_expected_stack(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Escapes control characters, so that no value can start a line of its own or control a terminal."""
        return _CONTROL.sub(_escaped, super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802
        """Keeps the line breaks of a stack."""
        return "\n".join(_CONTROL.sub(_escaped, line) for line in super().formatException(ei).split("\n"))


class JsonLines(logging.Formatter):
    """One JSON object per line, for files, with the stack of every error; expected ones below ERROR have none."""

    def format(self, record: logging.LogRecord) -> str:
        stack = record.exc_info if record.levelno >= logging.ERROR else None
        record = _without_expected_stack(record)
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request": getattr(record, "request", "-"),
            "message": masked(record.getMessage()),
        }
        if stack := record.exc_info or stack:
            line["stack"] = masked(self.formatException(stack))
        return redact(_CONTROL.sub(_escaped, _json(line)))


def _without_expected_stack(record: logging.LogRecord) -> logging.LogRecord:
    """For a ChieError, which is expected, the message and the code follow the text, in place of the stack."""
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, ChieError):
        return record
    plain = logging.makeLogRecord(record.__dict__)
    plain.msg, plain.args = "%s: %s [%s]", (record.getMessage(), error.message, error.code)
    plain.exc_info, plain.exc_text = None, None
    return plain
