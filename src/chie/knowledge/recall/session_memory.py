"""What the server remembers of an assistant's session while it lasts: in memory only, never its texts.

Of a failed command its name and its signatures are kept, of a prompt only its language and whether it corrects the
assistant. Everything is forgotten when the session ends, or after a day.
"""

import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from chie.knowledge.recall import signatures

MAX_SESSIONS = 1_000
MAX_FAILURES = 20
MAX_AGE_SECONDS = 24 * 3600.0
LONG_HUNT_FAILURES = 4  # failed commands since the last question that was asked of the assistant

_CORRECTION = re.compile(
    r"^\s*(?:no[,. !]|nope\b|wrong\b|that'?s (?:not|wrong)|not what|don'?t do that|revert)"
    r"|\bactually,? (?:it|we|you|the)\b|\bstill (?:fails?|failing|broken|not working|the same error)\b"
    r"|^\s*(?:違う|違います|ちがう|いや[、,]|いえ[、,]|そうじゃな|そうではな)|(?:ではなく|じゃなくて)|まだ(?:失敗|動か|直って|同じ)",
    re.IGNORECASE,
)
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\s|;&<>()]+")
_PREFIX = re.compile(r"^(?:\w+=\S*|sudo|env|time|command|npx|uv|run|poetry|exec)$")


@dataclass
class Failure:
    command: str  # its name and first argument
    signatures: list[str]
    solved: bool = False


@dataclass
class Session:
    touched: float
    space: str | None = None  # that the repository is bound to
    repository: str = ""  # as anchors name it
    japanese: bool = False
    corrected: bool = False
    hunt: int = 0
    asked: bool = False
    saved: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    def prompt(self, text: str) -> None:
        self.japanese = bool(_JAPANESE.search(text))
        self.corrected = self.corrected or bool(_CORRECTION.search(text))
        self.hunt = 0

    def failed(self, command: str, error: str) -> None:
        self.hunt += 1
        self.failures.append(Failure(command_name(command), signatures.kept_of(error)))
        del self.failures[:-MAX_FAILURES]

    def succeeded(self, command: str) -> None:
        """A command that passes solves its earlier failures."""
        name = command_name(command)
        for failure in self.failures:
            failure.solved = failure.solved or failure.command == name

    @property
    def solved(self) -> list[str]:
        """The signatures of failures that were solved, newest first."""
        found = [one for failure in reversed(self.failures) if failure.solved for one in failure.signatures]
        return list(dict.fromkeys(found))

    @property
    def has_finding(self) -> bool:
        """Whether something was hard to find out: a failure was solved, the user corrected the assistant, or the hunt
        was long."""
        return any(one.solved for one in self.failures) or self.corrected or self.hunt >= LONG_HUNT_FAILURES

    def forget_solved(self) -> None:
        self.failures = [failure for failure in self.failures if not failure.solved]


class SessionMemory:
    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Session:
        with self._lock:
            now = time.monotonic()
            while self._sessions and now - next(iter(self._sessions.values())).touched > MAX_AGE_SECONDS:
                self._sessions.popitem(last=False)
            session = self._sessions.setdefault(key, Session(now))
            session.touched = now
            self._sessions.move_to_end(key)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return session

    def end(self, key: str) -> None:
        with self._lock:
            self._sessions.pop(key, None)


def command_name(command: str) -> str:
    """`CI=1 npm test -- --watch` is `npm test`: the program and its first argument without a dash, in the last part of
    a chain of commands that changes nothing but the folder."""
    for part in re.split(r"&&|;|\n", command):
        words = [word for word in _WORDS.findall(part) if not _PREFIX.match(word)]
        if words and words[0] not in ("cd", "export", "source", "set"):
            arguments = [word for word in words[1:] if not word.startswith("-")]
            return " ".join([words[0], *arguments[:1]])
    return ""
