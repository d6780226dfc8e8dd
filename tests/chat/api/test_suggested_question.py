"""The question that the welcome page suggests finds sample notes on a fresh installation."""

import re
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.sse import parse, texts

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.servers import load_servers
from chie.settings import load

TEXTS = Path(__file__).parents[3] / "web" / "src" / "i18n" / "strings" / "chat.ts"
EXPECTED = ("k-sample-outage-roles", "k-sample-outage-review")


@pytest.mark.parametrize("language", [0, 1])
async def test_suggested_question_finds_sample_notes(language: int) -> None:
    question = re.findall(r'ideaNotes: "(.*)"', TEXTS.read_text(encoding="utf-8"))[language]
    servers = load_servers()
    app = create_app(servers, open_agents(load(ChatSettings), servers), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        assert (await client.post("/api/knowledge/samples")).status_code in (200, 201)
        found = (await client.get("/api/knowledge/search", params={"q": question})).text
        assert EXPECTED[language] in found
        answer = await client.post("/api/chat/stream", json={"message": question, "agent_id": "notes"})
        told = texts(parse(answer.text))
        assert ("Outages: the first ten minutes", "障害対応のあとは 3 日以内に振り返る")[language] in told
