"""Logs go to stderr or to a file, never to stdout, which belongs to the protocol."""

import json
import logging
import os
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from chie.errors import ChieError, ConflictError, ForbiddenError, NotFoundError, ValidationError

REQUEST = "chie/request"  # where an MCP call of ours carries the name, in its `_meta`

CALLERS = (ValidationError, NotFoundError, ConflictError, ForbiddenError)

_NAME = re.compile(r"[0-9a-f]{12}")

_request: ContextVar[str] = ContextVar("chie_request", default="-")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # C0 and C1, and what else ends a line

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"(?P<name>(?:authorization|x-n8n-api-key|api[-_]?key|password|passwd|secret|token)[\"']?\s*[:=]\s*[\"']?"
    r"(?:bearer\s+|basic\s+)?|bearer\s+)[^\s\"',;&]+|(?P<user>://[^/\s:@]*:)[^/\s@]+(?=@)"
    r"|\bchie_[\w-]{20,}",  # a token of ours, wherever it stands
    re.IGNORECASE,
)
# What begins as a JWT does is taken whole, and put back if it is none: so none of it is looked through twice.
_JWT = re.compile(r"\beyJ[\w-]++(?P<rest>\.[\w-]++\.[\w-]*+)?", re.IGNORECASE)


def request_id() -> str:
    return _request.get()


def new_request_id(given: object = None) -> str:
    """Names the work that follows in this context, for every log line it writes; a name that we gave already stays."""
    name = given if isinstance(given, str) and _NAME.fullmatch(given) else uuid4().hex[:12]
    _request.set(name)
    return name


def configure(level: str = "WARNING", file: Path | None = None) -> None:
    """Set up once per process, before FastMCP is imported: it would bring a handler of its own, and Rich with it.

    Frameworks' loggers lose their handlers, so that nothing escapes redaction.
    """
    os.environ["FASTMCP_LOG_ENABLED"] = "false"
    handler = _handler(file)
    handler.addFilter(stamp)
    handler.addFilter(_is_wanted)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in ("fastmcp", "mcp", "uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # At DEBUG it writes out every call's arguments: questions, notes, whatever a user sends.
    logging.getLogger("fastmcp.server.mixins.mcp_operations").setLevel(max(root.level, logging.INFO))


def _handler(file: Path | None) -> logging.Handler:
    """A log that cannot be written must not keep the server from its work: stderr is always there."""
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    if file is None:
        return handler
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"cannot log to {file} ({error.strerror}): logging here instead\n")
    else:
        handler.setFormatter(JsonLines())
    return handler


def stamp(record: logging.LogRecord) -> bool:
    record.request = request_id()
    return True


def _is_wanted(record: logging.LogRecord) -> bool:
    """What a caller got wrong was answered: that is no failure of ours, though FastMCP calls it an error."""
    error = record.exc_info[1] if record.exc_info else None
    if record.name.startswith("fastmcp.") and isinstance(error, CALLERS):
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    return record.levelno >= logging.getLogger().level


def redact(text: str) -> str:
    """Hide what looks like a secret, and the very values of this process's secret settings."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    text = _SECRET_TEXT.sub(lambda found: f"{found['name'] or found['user'] or ''}***", text)
    return _JWT.sub(lambda found: "***" if found["rest"] else found.group(), text)


def _escaped(found: re.Match[str]) -> str:
    """As JSON writes it."""
    return f"\\u{ord(found.group()):04x}"


class OneLine(logging.Formatter):
    """`12:00:00 WARNING chie.knowledge [3f2a…] message`; an expected error is not worth a stack."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(_without_expected_stack(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Whatever stands in an address or a name, it begins no line of its own and commands no terminal."""
        return _CONTROL.sub(_escaped, super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802
        """A stack has lines."""
        return "\n".join(_CONTROL.sub(_escaped, line) for line in super().formatException(ei).split("\n"))


class JsonLines(logging.Formatter):
    """One object a line, stack traces included, for files."""

    def format(self, record: logging.LogRecord) -> str:
        record = _without_expected_stack(record)
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request": getattr(record, "request", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return redact(_CONTROL.sub(_escaped, json.dumps(line, ensure_ascii=False)))


def _without_expected_stack(record: logging.LogRecord) -> logging.LogRecord:
    """A ChieError is an answer, not a crash: its message is the whole story."""
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, ChieError):
        return record
    plain = logging.makeLogRecord(record.__dict__)
    plain.msg, plain.args = "%s: %s", (record.getMessage(), error.message)
    plain.exc_info, plain.exc_text = None, None
    return plain
