from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.contract.note_store import a_note
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.embeddings_server import EmbeddingsServer

from chie.knowledge.embedding import openai
from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.embedding.cached import MAX_CACHED_VECTORS, CachedEmbedder
from chie.knowledge.embedding.onnx import OnnxEmbedder
from chie.knowledge.embedding.openai import OpenAIEmbedder
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.degraded import indexing_in_progress, saved_without_vectors, searched_by_words
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.messages.catalogue import Message


class TestDefaultModel:
    def test_it_brings_the_two_languages_together(self) -> None:
        embed = OnnxEmbedder().embed
        notes = embed(["コンテナのログを見る", "rotate the access keys"])
        near, far = notes @ embed(["how do I see the output of a container"])[0]
        assert near > 0.4 > far

    def test_vectors_have_unit_length_and_are_the_same_each_time(self) -> None:
        embedder = OnnxEmbedder()
        texts = ["障害", "a" * 5000, "🔐", ""]
        first, second = embedder.embed(texts), embedder.embed(texts[::-1])[::-1]
        assert first.dtype == np.float32
        assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-3)
        assert np.array_equal(first, second)

    def test_its_name_needs_no_loading_and_follows_the_weights(self, tmp_path: Path) -> None:
        (tmp_path / "model.onnx").write_bytes(bytes(1 << 17))
        other = OnnxEmbedder(tmp_path)
        assert other.id != OnnxEmbedder().id
        assert other.id.startswith("chie-onnx-")

    def test_missing_or_broken_model_files(self, tmp_path: Path) -> None:
        with pytest.raises(EmbeddingError) as unreadable:
            _ = OnnxEmbedder(tmp_path).id
        assert unreadable.value.code == "embedding.model_unreadable"
        with pytest.raises(EmbeddingError) as failed:
            OnnxEmbedder(tmp_path).embed(["x"])
        assert failed.value.code == "embedding.model_load_failed"


class TestOpenAIEmbedder:
    def test_vectors_come_back_in_order_and_of_unit_length(self) -> None:
        with EmbeddingsServer(dimension=8) as server:
            embedder = OpenAIEmbedder(server.url, "some-model", api_key="sk-1")
            texts = [f"text {n}" for n in range(150)]
            rows = embedder.embed(texts)
            assert rows.shape == (150, 8)
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
            assert np.allclose(rows[149], embedder.embed(["text 149"])[0])
            assert server.requests[0].headers["authorization"] == "Bearer sk-1"
            assert server.requests[0].body["model"] == "some-model"
            assert [len(request.body["input"]) for request in server.requests[:3]] == [64, 64, 22]

    @pytest.mark.parametrize(
        ("status", "hint"),
        [(401, "Set `CHIE_EMBEDDING_KEY`"), (404, "CHIE_EMBEDDING_MODEL"), (429, "try again"), (500, "server's log")],
    )
    def test_error_status_has_a_hint(self, status: int, hint: str) -> None:
        with EmbeddingsServer(status=status) as server, pytest.raises(EmbeddingError, match=hint) as error:
            OpenAIEmbedder(server.url, "m", api_key="sk-secret").embed(["very private"])
        assert "sk-secret" not in error.value.message
        assert "very private" not in error.value.message

    def test_a_server_that_is_not_there(self) -> None:
        with EmbeddingsServer() as server:
            url = server.url
        with pytest.raises(EmbeddingError) as caught:
            OpenAIEmbedder(url, "m").embed(["x"])
        assert caught.value.code == "embedding.server_unreachable"

    def test_a_server_that_hangs_is_waited_for_once_and_asked_again_later(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(openai, "TIMEOUT_SECONDS", 0.1)
        moment = 0.0
        with EmbeddingsServer() as server:
            embedder = CachedEmbedder(OpenAIEmbedder(server.url, "m", clock=lambda: moment))
            with closing(SqliteStore(tmp_path / "chie.db", embedder)) as store:
                service = KnowledgeService(store)
                server.silent.set()
                reason = Message("embedding.server_unreachable", url=f"{server.url}/embeddings", error="ReadTimeout")
                assert service.save("redis が落ちた").notice == saved_without_vectors(reason)
                assert service.search("redis").notice == searched_by_words(reason)
                assert len(server.requests) == 1
                server.silent.clear()
                moment = openai.COOLDOWN_SECONDS
                monkeypatch.setattr(openai, "TIMEOUT_SECONDS", 30.0)
                assert service.save("the disk is full").notice is None

    @pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"data": []}', b'{"data": [{"index": 0}]}', b"[]"])
    def test_invalid_response_body(self, body: bytes) -> None:
        with EmbeddingsServer(answer=body) as server, pytest.raises(EmbeddingError):
            OpenAIEmbedder(server.url, "m").embed(["x"])

    @pytest.mark.parametrize(
        "rows",
        ["[0.5, null]", "[null, null]", "null", "[]", "0.5", '["a", "b"]', "[[0.5], [0.5]]", "[0.5, 1e300]", "{}"],
    )
    def test_non_numeric_vectors_are_rejected(self, rows: str) -> None:
        answer = f'{{"data": [{{"index": 0, "embedding": {rows}}}]}}'.encode()
        with (
            EmbeddingsServer(answer=answer) as server,
            pytest.raises(EmbeddingError) as caught,
        ):
            OpenAIEmbedder(server.url, "m").embed(["x"])
        assert caught.value.code == "embedding.vectors_invalid"

    def test_vectors_of_different_dimensions_are_rejected(self) -> None:
        answer = b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}'
        with EmbeddingsServer(answer=answer) as server, pytest.raises(EmbeddingError) as caught:
            OpenAIEmbedder(server.url, "m").embed(["x", "y"])
        assert caught.value.code == "embedding.vectors_invalid"

    def test_model_with_another_dimension_is_rejected_until_restart(self, tmp_path: Path) -> None:
        with EmbeddingsServer(dimension=8) as server:
            before = SqliteStore(tmp_path / "chie.db", CachedEmbedder(OpenAIEmbedder(server.url, "m")))
            note = a_note("redis evicts sessions")
            before.save(note)
            server.dimension = 12
            notice = before.save(replace(note, content="redis が落ちた"), replacing=note)
            assert notice == saved_without_vectors(Message("embedding.dimension_changed"))
            assert before.search("落ちた", limit=5, tags=()).hits
            before.close()
            after = SqliteStore(tmp_path / "chie.db", CachedEmbedder(OpenAIEmbedder(server.url, "m")))
            assert after.search("redis", limit=5, tags=()).notice == indexing_in_progress(1)
            after._backfill.run(lambda _: None)
            assert after.search("redis", limit=5, tags=()).notice is None
            after.close()


class TestMemory:
    def test_the_same_text_is_read_once(self) -> None:
        with EmbeddingsServer() as server:
            inner = OpenAIEmbedder(server.url, "m")
            embedder = CachedEmbedder(inner)
            rows = embedder.embed(["a", "b", "a"])
            assert np.array_equal(embedder.embed(["b", "c"])[0], rows[1])
            assert [request.body["input"] for request in server.requests] == [["a", "b"], ["c"]]
            assert embedder.id == inner.id

    def test_it_forgets_the_oldest(self) -> None:
        embedder = CachedEmbedder(HashingEmbedder())
        embedder.embed([f"text {n}" for n in range(MAX_CACHED_VECTORS + 50)])
        assert len(embedder._rows) == MAX_CACHED_VECTORS
        assert "text 0" not in embedder._rows
