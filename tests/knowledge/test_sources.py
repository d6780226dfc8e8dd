"""Which file the source of a note names."""

import pytest

from chie.knowledge.sources import file_name, names_file

FILE, FOLDER = "/home/aki/shop/src/db/pool.py", "/home/aki/shop"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("src/db/pool.py:42", "pool.py"),
        ("https://git.example/acme/shop/blob/main/src/db/Pool.py#L10-L20", "pool.py"),
        ("C:\\work\\shop\\pool.py", "pool.py"),
        ("file:///home/aki/shop/pool.py", "pool.py"),
        ("ACME-123", "acme-123"),
        ("", None),
        (None, None),
    ],
)
def test_file_name(source: str | None, expected: str | None) -> None:
    assert file_name(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "src/db/pool.py",
        "db/pool.py:10",
        "shop/src/db/pool.py",
        "/home/aki/shop/src/db/pool.py:42:7",
        "/home/ben/work/shop/src/db/pool.py",
        "https://git.example/acme/shop/blob/main/src/db/pool.py#L3",
    ],
)
def test_source_that_names_the_file(source: str) -> None:
    assert names_file(source, FILE, FOLDER)


@pytest.mark.parametrize(
    "source", ["pool.py", "lib/db/pool.py", "src/db/pool.pyc", "https://git.example/acme/shop", ""]
)
def test_source_that_names_another_file(source: str) -> None:
    assert not names_file(source, FILE, FOLDER)


def test_a_file_at_the_top_of_the_project() -> None:
    assert names_file("Makefile", "/home/aki/shop/Makefile", FOLDER)
    assert names_file("https://git.example/acme/shop/blob/main/Makefile", "/home/aki/shop/Makefile", FOLDER)
    assert not names_file("https://git.example/acme/other/blob/main/Makefile", "/home/aki/shop/Makefile", FOLDER)
