"""Recomputes the statistics that the PostgreSQL store maintains."""

import psycopg


def assert_counts_are_true(url: str) -> None:
    with psycopg.connect(url) as connection:

        def rows(query: str) -> list[tuple[object, ...]]:
            return sorted(connection.execute(query).fetchall())

        assert rows(
            "SELECT owner, notes, passages, tokens FROM knowledge_corpus WHERE notes > 0 OR passages > 0 OR tokens > 0"
        ) == rows(
            "SELECT CASE WHEN space <> 'team' THEN space || chr(31) ELSE '' END ||"
            " CASE WHEN private OR proposal THEN user_id ELSE '' END, count(DISTINCT seq), count(*), sum(length)"
            " FROM knowledge_notes JOIN knowledge_passages ON note = seq GROUP BY 1"
        )
        assert rows("SELECT term, passages FROM knowledge_vocabulary") == rows(
            "SELECT t, count(*) FROM knowledge_passages, unnest(terms) t GROUP BY t"
        )
        assert rows("SELECT id, vectors FROM knowledge_models WHERE vectors > 0") == rows(
            "SELECT model, count(*) FROM knowledge_vectors GROUP BY model"
        )
        assert rows("SELECT seq FROM knowledge_notes WHERE seq NOT IN (SELECT note FROM knowledge_passages)") == []
