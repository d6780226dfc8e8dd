"""The price table: the file that comes with Chie, and the operator's."""

import json
from pathlib import Path

import pytest
from tests.fakes.chat import sqlite_url

from chie.chat.events import Usage
from chie.chat.metering import ModelRequest
from chie.chat.module import ChatModule
from chie.chat.usage.prices import FREE, SHIPPED, Price, read_prices
from chie.errors import ConfigurationError

pytestmark = pytest.mark.req("AG-13")


def request(model: str, host: str = "api.openai.com", *, local: bool = False) -> ModelRequest:
    return ModelRequest(model=model, host=host, is_local=local, usage=Usage(input_tokens=1, output_tokens=1))


def price(path: Path, *asked: ModelRequest) -> list[Price | None]:
    table = read_prices(path, required=False)
    return [table.price(one) for one in asked]


def test_shipped_table_says_where_its_prices_come_from() -> None:
    table = json.loads(SHIPPED.read_text())
    assert table["currency"] == "USD"
    assert table["updated"]
    assert table["source"]


def test_models_are_found_by_name_pattern_and_provider(tmp_path: Path) -> None:
    found = price(
        tmp_path / "prices.json",
        request("gpt-4o"),
        request("gpt-4o-2024-11-20"),
        request("gpt-4o-2024-05-13"),
        request("openai/GPT-4o"),
        request("global.anthropic.claude-sonnet-4-6", "bedrock.ap-northeast-1"),
        request("jp.anthropic.claude-sonnet-4-6", "bedrock.ap-northeast-1"),
        request("gpt-4o-something-new"),
        request("社内モデル"),
        request("gpt-4o", "127.0.0.1:1234", local=True),
    )
    gpt = Price(input=2.5, cached_input=1.25, cache_write=2.5, output=10)
    older = Price(input=5, cached_input=5, cache_write=5, output=15)
    claude = Price(input=3, cached_input=0.3, cache_write=3.75, output=15)
    japan = Price(input=3.3, cached_input=0.33, cache_write=4.125, output=16.5)
    assert found == [gpt, gpt, older, gpt, claude, japan, None, None, FREE]


def test_own_prices_go_first_also_for_local_servers(tmp_path: Path) -> None:
    own = [
        {"models": ["gpt-4o"], "input": 1, "output": 2, "source": "contract of 2026"},
        {"models": ["*"], "host": "gpu.example:8000", "input": 0, "output": 0},
        {"models": ["社内*"], "input": 0.5, "cached_input": 0.1, "cache_write": 0.6, "output": 4},
    ]
    (tmp_path / "prices.json").write_text(json.dumps({"prices": own}), encoding="utf-8")
    asked = [request("gpt-4o"), request("any", "gpu.example:8000"), request("社内モデル", local=True), request("o3")]
    found = price(tmp_path / "prices.json", *asked)
    assert found[0] == Price(input=1, cached_input=1, cache_write=1, output=2)
    assert found[1] == FREE
    assert found[2] == Price(input=0.5, cached_input=0.1, cache_write=0.6, output=4)
    assert found[3] is not None


def test_cost_counts_cached_and_written_tokens_once() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=600_000, cache_write_tokens=100_000)
    price = Price(input=3, cached_input=0.3, cache_write=3.75, output=15)
    assert price.cost(usage) == (300_000 * 3 + 600_000 * 0.3 + 100_000 * 3.75 + 100_000 * 15) * 1_000
    assert str(price) == "3/0.3/3.75/15"


@pytest.mark.parametrize(
    ("text", "code", "line", "field"),
    [
        (
            '{\n "prices": [\n  {"models": ["a"], "input": -1, "output": 1}]}',
            "files.price_invalid",
            3,
            "prices[0].input",
        ),
        ('{"prices": [{"models": ["a"], "input": "3", "output": 1}]}', "files.price_invalid", 1, "prices[0].input"),
        ('{"prices": [{"models": ["a"], "input": true, "output": 1}]}', "files.price_invalid", 1, "prices[0].input"),
        ('{"prices": [{"models": [], "input": 1, "output": 1}]}', "files.price_invalid", 1, "prices[0].models"),
        ('{"prices": [\n{"models": ["a"], "input": 1}]}', "files.field_missing", 2, "prices[0].output"),
        ('{"prices": [{"models": ["a"], "inputs": 1}]}', None, 1, "prices[0]"),
        ('{"prices": {}}', "files.not_list", 1, "prices"),
        ('{"price": []}', "files.field_unknown", 1, "price"),
        ('{"currency": "JPY"}', "files.value_not_allowed", 1, "currency"),
        ("[]", "files.not_object", 1, None),
    ],
)
def test_wrong_file_is_named_with_line_and_field(
    tmp_path: Path, text: str, code: str | None, line: int, field: str | None
) -> None:
    (tmp_path / "prices.json").write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        read_prices(tmp_path / "prices.json", required=True)
    assert code in (None, raised.value.code)
    assert raised.value.reason.params["line"] == line
    for language in ("en", "ja"):
        shown = raised.value.reason.text(language)
        assert str(tmp_path / "prices.json") in shown
        assert field is None or field in shown


def test_wrong_file_fails_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_PRICES_FILE", str(tmp_path / "mine.json"))
    with pytest.raises(ConfigurationError, match=r"mine\.json"):
        ChatModule(sqlite_url(tmp_path))
