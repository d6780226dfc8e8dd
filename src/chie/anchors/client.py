"""Asks the running Chie for the notes about a repository, and reports what has become of their code."""

from __future__ import annotations

import json

from chie.anchors.check import check
from chie.hook.http import ResponseError, request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from chie.anchors.git import Repository

    Json: TypeAlias = dict[str, Any]

ROUTE = "/api/knowledge/anchors"
PAGE = 50
MAX_CHECKS = 200  # in one report


class Refused(Exception):  # noqa: N818 - what the server answered
    """The server answers, but not with what was asked for."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status)
        self.status, self.detail = status, detail


class Server:
    def __init__(self, url: str, token: str, timeout: float) -> None:
        self.url = url
        self._token, self._timeout = token, timeout

    def anchored(self, repository: str) -> list[Json]:
        """The notes about this repository: id, title, anchor and the last report."""
        notes: list[Json] = []
        while True:
            after = notes[-1]["id"] if notes else ""
            query = f"repository={_quoted(repository)}&limit={PAGE}&after={_quoted(after)}"
            page = self._call("GET", f"{ROUTE}?{query}")["notes"]
            notes += page
            if len(page) < PAGE:
                return notes

    def report(self, commit: str, committed_at: str, checks: list[Json]) -> int:
        """The number of stored results."""
        stored = 0
        for start in range(0, len(checks), MAX_CHECKS):
            body = {"commit": commit, "committed_at": committed_at, "checks": checks[start : start + MAX_CHECKS]}
            stored += int(self._call("POST", ROUTE, body)["stored"])
        return stored

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        data = b"" if body is None else json.dumps(body).encode()
        status, content = request(method, self.url + path, data, self._token, self._timeout)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ResponseError from error
        if status != 200:
            raise Refused(status, str(answer.get("detail") or "") if isinstance(answer, dict) else "")
        return dict(answer)


def checked(repository: Repository, head: str, notes: list[Json]) -> list[Json]:
    """The results for the notes, as the server takes them."""
    return [{"id": note["id"], "anchor": note["anchor"], **check(repository, head, note["anchor"])} for note in notes]


def _quoted(text: str) -> str:
    """Percent-encoded; `urllib.parse` takes longer to import than all of this."""
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
