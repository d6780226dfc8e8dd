"""`/v1/embeddings` with OpenAI's own client, and the model of the notes behind it."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError
from tests.fakes.agents import FakeRegistry
from tests.fakes.chat import NO_PAGE, serving, sqlite_url

from chie.app import create_app
from chie.chat.module import ChatModule
from chie.knowledge.embedding.api import ALIAS, MAX_TEXTS
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.server import create_server
from chie.knowledge.settings import KnowledgeSettings

pytestmark = pytest.mark.req("AG-14")

TEXTS = ["データベースの接続が切れる", "The database connection drops", "りんごのレシピ"]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncOpenAI]:
    servers = {"knowledge": create_server(KnowledgeSettings(home=tmp_path))}
    app = create_app(servers, nullcontext(FakeRegistry()), chat=ChatModule(sqlite_url(tmp_path)), page=NO_PAGE)
    async with serving(app) as url, AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        yield client


async def test_vectors_are_those_of_the_notes(client: AsyncOpenAI) -> None:
    """The SDK asks for base64 unless it is told otherwise."""
    as_base64 = await client.embeddings.create(model=ALIAS, input=TEXTS)
    as_floats = await client.embeddings.create(model=as_base64.model, input=TEXTS, encoding_format="float")
    expected = OnnxEmbedder().embed(TEXTS)
    for answer in (as_base64, as_floats):
        assert [row.index for row in answer.data] == [0, 1, 2]
        vectors = np.array([row.embedding for row in answer.data], np.float32)
        assert np.allclose(vectors, expected, atol=1e-6)
    same, other = expected[0] @ expected[1], expected[0] @ expected[2]
    assert same > other


async def test_one_text_and_its_dimensions(client: AsyncOpenAI) -> None:
    answer = await client.embeddings.create(model=ALIAS, input="知恵")
    size = len(answer.data[0].embedding)
    assert len((await client.embeddings.create(model=ALIAS, input="知恵", dimensions=size)).data) == 1
    with pytest.raises(BadRequestError, match=f"has {size} dimensions"):
        await client.embeddings.create(model=ALIAS, input="知恵", dimensions=size + 1)


async def test_requests_that_cannot_be_followed_say_why(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match=f"Use `{ALIAS}`"):
        await client.embeddings.create(model="text-embedding-3-small", input="x")
    with pytest.raises(BadRequestError, match="numbers of tokens"):
        await client.embeddings.create(model=ALIAS, input=[[1, 2]])
    with pytest.raises(BadRequestError, match=f"1 to {MAX_TEXTS} texts"):
        await client.embeddings.create(model=ALIAS, input=["x"] * (MAX_TEXTS + 1))
    with pytest.raises(BadRequestError, match="not supported: truncate"):
        await client.embeddings.create(model=ALIAS, input="x", extra_body={"truncate": True})
