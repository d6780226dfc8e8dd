"""What has become of the code of a note's anchor, in a commit of a repository."""

from __future__ import annotations

from chie.anchors.compare import Comparison, Verdict, fingerprint, split_lines, whole_file, with_fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from chie.anchors.git import Repository

    Json: TypeAlias = dict[str, Any]

MAX_FILES = 20


def check(repository: Repository, head: str, anchor: Json) -> Json:
    """State, detail, share and place of the anchored code in the commit `head`, as the server takes them."""
    path, span = str(anchor["path"]), span_of(anchor.get("lines"))
    commit = repository.commit(str(anchor.get("commit") or "")) if anchor.get("commit") else None
    if commit is None:
        return _without_commit(repository, head, anchor, span)
    content = repository.content(commit, path)
    if content is None:
        return _result(Verdict("unknown", "not_in_commit"))
    old = split_lines(content)
    first, last = span or (1, len(old))
    wanted = anchor.get("fingerprint")
    if last > len(old) or (span and wanted and fingerprint(old[first - 1 : last]) != wanted):
        return _result(Verdict("unknown", "not_in_commit"))
    return _compared(repository, (commit, head), path, old, span)


def _compared(
    repository: Repository, commits: tuple[str, str], path: str, old: list[bytes], span: tuple[int, int] | None
) -> Json:
    commit, head = commits
    first, last = span or (1, len(old))
    found = _followed(repository, commit, head, path)
    if found is None:
        moved = _elsewhere(repository, commit, head, path, Comparison(old, []), first, last) if span else None
        return moved or _result(Verdict("gone", "file_deleted", 1.0))
    place, new = found
    if span is None:
        return _result(_renamed(whole_file(old, new), path, place), place, whole=fingerprint(new))
    comparison = Comparison(old, new)
    verdict = comparison.verdict(first, last)
    if verdict.state == "gone" and comparison.only_deletes():
        moved = _elsewhere(repository, commit, head, path, comparison, first, last)
        return moved or _result(verdict)
    return _result(_renamed(verdict, path, place), place, new)


def span_of(lines: object) -> tuple[int, int] | None:
    """The first and the last of `10-20` or `7`."""
    text = str(lines or "")
    first, _, last = text.partition("-")
    return (int(first), int(last or first)) if first.isdigit() and (last or first).isdigit() else None


def _without_commit(repository: Repository, head: str, anchor: Json, span: tuple[int, int] | None) -> Json:
    """The commit is not given or not here, as after a squash or in a shallow clone: only a fingerprint can help."""
    path, wanted = str(anchor["path"]), str(anchor.get("fingerprint") or "")
    content = repository.content(head, path) if wanted else None
    if content is None:
        return _result(Verdict("unknown", "commit_unknown"))
    new = split_lines(content)
    if span is None:
        same = fingerprint(new) == wanted
        return _result(Verdict("fresh", "same", 0.0) if same else Verdict("unknown", "commit_unknown"), path)
    return _result(with_fingerprint(wanted, *span, new), path, new)


def _followed(repository: Repository, old: str, new: str, path: str) -> tuple[str, list[bytes]] | None:
    """The path and the lines of the file in the commit `new`, also if it was renamed."""
    content = repository.content(new, path)
    if content is not None:
        return path, split_lines(content)
    place = repository.renamed(old, new, path)
    content = repository.content(new, place) if place else None
    return (place, split_lines(content)) if place and content is not None else None


def _elsewhere(
    repository: Repository, old: str, new: str, path: str, comparison: Comparison, first: int, last: int
) -> Json | None:
    """The result for lines that were moved into another file: they were in one file only, and are in one only."""
    unique = comparison.distinctive_line(first, last)
    if not unique:
        return None
    before, after = repository.files_with(old, unique), repository.files_with(new, unique)
    if before != [path] or not 1 <= len(after) <= MAX_FILES or path in after:
        return None
    places = []
    for name in after:
        lines = split_lines(repository.content(new, name) or b"")
        verdict = Comparison(comparison.old[first - 1 : last], lines).verdict(1, last - first + 1)
        places.append((name, lines, verdict))
    if len(places) != 1 or places[0][2].state != "fresh":
        return None
    name, lines, verdict = places[0]
    return _result(verdict._replace(detail="moved"), name, lines)


def _renamed(verdict: Verdict, path: str, place: str) -> Verdict:
    return verdict._replace(detail="moved") if verdict.detail == "same" and place != path else verdict


def _result(verdict: Verdict, path: str | None = None, lines: list[bytes] | None = None, whole: str = "") -> Json:
    result: Json = {"state": verdict.state, "detail": verdict.detail}
    if verdict.changed is not None:
        result["changed"] = round(verdict.changed, 4)
    if path and (verdict.first or whole):
        result["path"] = path
        if verdict.first and lines is not None:
            last = max(verdict.last, verdict.first)
            result["lines"] = str(verdict.first) if last == verdict.first else f"{verdict.first}-{last}"
            result["fingerprint"] = fingerprint(lines[verdict.first - 1 : last])
        elif whole:
            result["fingerprint"] = whole
    return result
