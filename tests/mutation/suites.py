"""Which modules are mutated, and which tests must notice: quick ones, in one process, that reach the module."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    modules: tuple[str, ...]
    tests: tuple[str, ...]


SUITES = {
    "n8n": Suite(
        ("n8n/merge.py", "n8n/patch.py", "n8n/saving.py"),
        (
            "n8n/test_merge.py",
            "n8n/test_patch.py",
            "n8n/test_saving.py",
            "n8n/test_truncation.py",
            "n8n/test_publication.py",
        ),
    ),
    "bedrock_kb": Suite(
        ("bedrock_kb/service.py",),
        (
            "bedrock_kb/test_server.py",
            "bedrock_kb/test_streaming.py",
            "bedrock_kb/test_credentials.py",
            "bedrock_kb/test_scores.py",
        ),
    ),
    "chat": Suite(
        ("chat/sessions/service.py", "chat/sessions/turns.py", "chat/sessions/answers.py"),
        ("chat/sessions/test_service.py", "chat/sessions/test_turns.py", "chat/sessions/test_answers.py"),
    ),
    "knowledge": Suite(
        ("knowledge/service.py", "knowledge/validation.py", "knowledge/search/ranking.py"),
        (
            "knowledge/test_service_rules.py",
            "knowledge/test_import_rules.py",
            "knowledge/test_search_rules.py",
            "knowledge/test_ranking.py",
            "knowledge/test_service.py",
        ),
    ),
}
