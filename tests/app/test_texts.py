"""Every sentence of the house that the page may show has a Japanese one, and no Japanese one outlives its sentence."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.app.texts import Text, holes, skeleton, texts

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "chie", ROOT / "packages")
CATALOGUE = ROOT / "web" / "src" / "i18n" / "server.ja.json"

UNSEEN_FILES = {
    "src/chie/cli.py": "the command line",
    "src/chie/knowledge/cli.py": "the command line",
    "src/chie/access/cli.py": "the command line",
    "src/chie/access/settings.py": "descriptions of settings",
    "src/chie/knowledge/exchange.py": "the command line: folders are imported there, the page sends files",
    "src/chie/chat/sessions/cli.py": "the command line",
    "src/chie/completion.py": "the command line",
    "src/chie/knowledge/collection_cli.py": "the command line",
    "src/chie/knowledge/migration.py": "the command line",
    "src/chie/knowledge/prompts.py": "for assistants; what people see of it is in both languages there",
    "src/chie/knowledge/resources.py": "for assistants",
    "src/chie/http/workers.py": "the command line and the log",
    "src/chie/chat/api/docs_page.py": "a page for programmers",
    "src/chie/connect": "the command line",
    "src/chie/doctor": "the command line",
    "src/chie/backup": "the command line",
    "src/chie/logging.py": "the log",
    "src/chie/chat/metrics.py": "for Prometheus",
    "src/chie/chat/api/openai_schemas.py": "/v1 is for programs",
    "src/chie/chat/api/openai_compat.py": "/v1 is for programs",
    "src/chie/chat/api/sse.py": "the wire's own form",
    "src/chie/http/static_files.py": "headers",
    "src/chie/chat/api/schemas.py": "the API's description",
    "src/chie/http/openapi_errors.py": "the API's description",
    "src/chie/connect/mcp_clients.py": "commands to copy",
    "src/chie/chat/sessions/export.py": "a file, in the words of the conversation",
    "src/chie/chat/agents/canned_replies.py": "is in both languages there",
    "src/chie/chat/agents/tools.py": "is said to the model",
    "src/chie/knowledge/samples.py": "notes, in the language of each",
    "src/chie/knowledge/tokens.py": "words to leave out of a search",
    "src/chie/bedrock_kb/filters.py": "the page sends no filter",
    "src/chie/bedrock_kb/truncation.py": "is replaced by a sentence of faults.py",
    "src/chie/bedrock_kb/progress.py": "MCP's progress, which the page does not show",
    "src/chie/n8n/arguments.py": "descriptions of arguments, for assistants",
    "src/chie/n8n/budget.py": "marks inside answers to assistants",
    "src/chie/n8n/files.py": "workflows from files: a tool's alone",
    "src/chie/n8n/mermaid.py": "no words",
    "src/chie/n8n/patch.py": "patch_workflow: a tool's alone",
    "src/chie/n8n/json_path.py": "patch_workflow: a tool's alone",
    "src/chie/n8n/rename.py": "patch_workflow: a tool's alone",
    "src/chie/n8n/registry.py": "a fault of ours, told when the server is built",
    "src/chie/n8n/tool.py": "advice about tools, for assistants",
    "src/chie/n8n/tools": "tools are described and answer in English, for assistants",
}
UNSEEN_TEXTS = {
    "refusing to listen on {host}: anybody who reaches it could read and change everything. Use 127.0.0.1, or "
    "let people say who they are first: `chie users add NAME` gives somebody a token. Where a proxy in front knows "
    "them already, set CHIE_BEHIND_PROXY_AUTH=1.": "told on the command line",
    "this tokenizer is of another kind than the one that Chie knows": "a fault of ours",
    "Search results / 検索結果": "a view's title, in both languages",
    "Shows what search_knowledge found.": "for assistants",
    "Workflow graph / ワークフロー図": "a view's title, in both languages",
    "Draws what get_workflow_connections read.": "for assistants",
    "postgresql {part}": "a name of a place",
    "pip install {requirement}": "a command to copy",
    "knowledge_corpus has lost its row": "a fault of ours",
    "roles/vectorsearch.dataObjectWriter and roles/vectorsearch.viewer": "names of roles",
    "Getting metadata from plugin failed": "is looked for in Google's words",
    "Chie's notes": "a Collection's title",
    "no model": "the command line",
    "{nothing}; style-src 'unsafe-inline'": "a header",
    "user {user_id}": "a name inside an object",
    "reading this resource": "for assistants",
    "this prompt": "for assistants",
    "CHIE_AUTH_AUDIENCE or CHIE_AUTH_JWKS_URL is set without CHIE_AUTH_ISSUER. "
    "Name the issuer too.": "told at the start, on the command line",
    "CHIE_AUTH_ISSUER is set without CHIE_AUTH_AUDIENCE. Name it, or tokens that were made for any other program of "
    "the same provider would open this one.": "told at the start, on the command line",
    "this name cannot be used. Take letters, digits and . _ @ + - (64 at most), beginning with a letter or a digit; "
    "{reserved} are taken.": "the command line",
    "there is a user {name} already. Revoke it first to give it another token.": "the command line",
    "there is no user {name}. `chie users list` shows who there is.": "the command line",
    "{path} cannot be written: {strerror}. Free some space, or set CHIE_USERS_FILE.": "the command line",
    "{path} cannot be read as a list of users, so nobody is let in. Restore it, or move it away and add the users anew "
    "with `chie users add`.": "the command line and the log",
    "the keys of the sign-in provider cannot be fetched ({error}), so nobody whom it knows gets in. Check "
    "CHIE_AUTH_ISSUER, CHIE_AUTH_JWKS_URL and the network.": "chie doctor",
    'Bearer realm="Chie"': "a header",
    "the document is about another issuer": "is caught where it is raised",
    "the document is too long": "is caught where it is raised",
    "not an entry": "is caught where it is raised",
    "the provider's jwks_uri": "a name inside another sentence",
    "a store tells nothing new only to who knows something": "a fault of ours",
    "CHIE_HOME still has ${…} in it: whoever started Chie passed the text on as it stands. Write the folder's path "
    "there, or leave CHIE_HOME out.": "told at the start, before there is a page",
    "CHIE_HOME in {part} names another folder, though that file is read because it is in CHIE_HOME. Remove the line "
    "there, and set it in the environment.": "told at the start, before there is a page",
    "Today is {now}.": "is said to the model",
    "You have used all your tool calls for this answer. "
    "Answer now, in words, with what you know.": "is said to the model",
    "(This answer failed before it began.)": "is said to the model",
    "access to the model": "is looked for in AWS's words",
    "on-demand throughput": "is looked for in AWS's words",
    "model identifier": "is looked for in AWS's words",
    "managed knowledge base": "is looked for in AWS's words",
    "' at '": "is looked for in AWS's words",
    "by meaning and by words": "the name of a mode, for programs",
    "Bearer {api_key}": "a header",
    " --profile {profile}": "part of a command",
    "\n[cut: these are the first {count} of {whole} characters]": "a mark in what a tool gave back",
    "[{kind}, {mime_type}: not shown to you]": "a mark in what a tool gave back",
    "[{kind}: not shown to you]": "a mark in what a tool gave back",
}


def test_every_sentence_of_the_house_has_a_japanese_one() -> None:
    known = {skeleton(key) for key in catalogue()}
    missing = {text.skeleton: text for text in sentences() if text.skeleton not in known}
    lines = "\n".join(f"  {_quoted(text.template)}: {_quoted('')}," for text in missing.values())
    places = "\n".join(f"  {text.place}" for text in missing.values())
    assert not missing, (
        f"{len(missing)} sentences have no Japanese one. Add them to {CATALOGUE.relative_to(ROOT)} "
        f"(or, if the page can never show one, to UNSEEN_TEXTS with the reason):\n{lines}\nThey are said at\n{places}"
    )


def test_no_japanese_sentence_outlives_its_english_one() -> None:
    said = {text.skeleton for text in all_texts()}
    stale = [key for key in catalogue() if skeleton(key) not in said]
    lines = "\n".join(f"  {_quoted(key)}" for key in stale)
    assert not stale, f"Nothing in the source says this any more; correct or remove it in {CATALOGUE.name}:\n{lines}"


def test_a_japanese_sentence_keeps_the_values_of_its_english_one() -> None:
    for english, japanese in catalogue().items():
        assert holes(japanese) == holes(english), english
        assert japanese.strip(), english


def test_nothing_is_left_out_that_is_not_there() -> None:
    assert [name for name in UNSEEN_FILES if not (ROOT / name).exists()] == []
    said = {text.skeleton for text in all_texts()}
    assert [text for text in UNSEEN_TEXTS if skeleton(text) not in said] == []


SAYS = '''
"""A docstring is not heard."""
HINT = "Wait a little, then try again."
SAYS = {404: "there is no such thing as {what}.", "description": "part of the API's description."}
ADVICE = {404: "{path} is damaged ({seconds:.0f} s)."}

def fail(note: "a kind of note", n: int) -> None:
    logger.warning("the log hears of %s", n)
    raise ValidationError(f"too long: {len(note)}{n:,} characters, {'and more to come' if n else ''}" + ". Cut it.")
    connection.execute("SELECT title FROM notes")
'''


def test_a_sentence_is_found_wherever_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "new.py"
    file.write_text(SAYS, encoding="utf-8")
    found = [text.template for text in texts([file], tmp_path) if text.is_sentence]
    assert found == [
        "Wait a little, then try again.",
        "{path} is damaged ({seconds} s).",
        "too long: {note} characters, {n}. Cut it.",
        "and more to come",
    ]


def catalogue() -> dict[str, str]:
    found = json.loads(CATALOGUE.read_text(encoding="utf-8"), object_pairs_hook=_once)
    assert isinstance(found, dict)
    return found


def sentences() -> Iterator[Text]:
    unseen = {skeleton(text) for text in UNSEEN_TEXTS}
    return (text for text in all_texts() if text.is_sentence and text.skeleton not in unseen)


@cache
def all_texts() -> list[Text]:
    files = (file for source in SOURCES for file in sorted(source.rglob("*.py")))
    return list(texts((file for file in files if not _is_unseen(file)), ROOT))


def _is_unseen(file: Path) -> bool:
    return any(file == ROOT / name or ROOT / name in file.parents for name in UNSEEN_FILES)


def _once(pairs: list[tuple[str, str]]) -> dict[str, str]:
    forms = [skeleton(key) for key, _ in pairs]
    assert len(forms) == len(set(forms)), [key for key, _ in pairs if forms.count(skeleton(key)) > 1]
    return dict(pairs)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
