"""The price table: a file of this package, and the operator's own, which goes first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from chie.chat.events import Usage
from chie.chat.json_file import FieldPath, JsonFile
from chie.chat.metering import ModelRequest
from chie.chat.sessions.usage_entry import NANO
from chie.errors import ConfigurationError

SHIPPED = Path(__file__).parent / "prices.json"
CURRENCY = "USD"
UNKNOWN = "unknown"  # in place of a price
NANOS_PER_TOKEN = NANO // 1_000_000  # of a price of one dollar per million tokens

Amount = Annotated[float, Field(ge=0, le=1_000_000, strict=True, allow_inf_nan=False)]


class PriceEntry(BaseModel):
    """Dollars per million tokens. Without a price of its own, cached input costs as much as any input."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    host: str = "*"
    input: Amount
    output: Amount
    cached_input: Amount | None = None
    cache_write: Amount | None = None
    source: str | None = None

    def covers(self, model: str, host: str) -> bool:
        """Gateways put the provider before a model's name."""
        names = (model.lower(), model.lower().rpartition("/")[2])
        return fnmatchcase(host.lower(), self.host.lower()) and any(
            fnmatchcase(name, pattern.lower()) for pattern in self.models for name in names
        )

    def names(self, model: str) -> bool:
        return any(model.lower() == pattern.lower() for pattern in self.models)

    @property
    def price(self) -> "Price":
        read = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        return Price(input=self.input, cached_input=read, cache_write=written, output=self.output)


@dataclass(frozen=True, kw_only=True)
class Price:
    input: float
    cached_input: float
    cache_write: float
    output: float

    def __str__(self) -> str:
        """As it is stored with the usage that it applied to."""
        return f"{self.input:g}/{self.cached_input:g}/{self.cache_write:g}/{self.output:g}"

    def cost(self, usage: Usage) -> int:
        """In billionths of a dollar."""
        cached, written = usage.get("cached_tokens", 0), usage.get("cache_write_tokens", 0)
        plain = max(usage["input_tokens"] - cached - written, 0)
        dollars = plain * self.input + cached * self.cached_input + written * self.cache_write
        return round((dollars + usage["output_tokens"] * self.output) * NANOS_PER_TOKEN)


FREE = Price(input=0, cached_input=0, cache_write=0, output=0)


class PriceTable:
    """The operator's entries apply to every server; those of the package do not to local ones, which are free."""

    def __init__(self, own: Sequence[PriceEntry] = ()) -> None:
        self._own = own

    def price(self, request: ModelRequest) -> Price | None:
        """None if it is unknown."""
        if found := _find(self._own, request):
            return found
        return FREE if request.is_local else _find(_shipped(), request)


def read_prices(path: Path, *, required: bool) -> PriceTable:
    """Raises ConfigurationError that names the line and the field."""
    return PriceTable(_entries(JsonFile(path, required=required)))


@cache
def _shipped() -> Sequence[PriceEntry]:
    return _entries(JsonFile(SHIPPED, required=True))


def _find(entries: Iterable[PriceEntry], request: ModelRequest) -> Price | None:
    """An entry that names the model goes before one with a pattern."""
    covering = [entry for entry in entries if entry.covers(request.model, request.host)]
    chosen = next((entry for entry in covering if entry.names(request.model)), next(iter(covering), None))
    return chosen.price if chosen else None


def _entries(file: JsonFile) -> list[PriceEntry]:
    content: Any = file.content
    if not isinstance(content, dict):
        raise file.error("files.not_object", ())
    for key in content:
        if key not in ("currency", "updated", "source", "prices"):
            raise file.error("files.field_unknown", (key,))
    if content.get("currency", CURRENCY) != CURRENCY:
        raise file.error("files.value_not_allowed", ("currency",), allowed=f"'{CURRENCY}'")
    prices, path = content.get("prices", []), ("prices",)
    if not isinstance(prices, list):
        raise file.error("files.not_list", path)
    return [_entry(file, value, (*path, index)) for index, value in enumerate(prices)]


def _entry(file: JsonFile, value: object, path: FieldPath) -> PriceEntry:
    try:
        return file.model(PriceEntry, value, path)
    except ConfigurationError as error:
        if error.code != "files.value_invalid":
            raise
        raise ConfigurationError("files.price_invalid", **error.reason.params) from error
