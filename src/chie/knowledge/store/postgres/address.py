"""The address of a PostgreSQL server, in the spellings that the house's one setting knows."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from chie.errors import ConfigurationError

SCHEMES = ("postgresql", "postgres")
_WHO = ("user", "password")


@dataclass(frozen=True)
class Address:
    """What the driver connects with, and what an error may say of it."""

    options: dict[str, Any]

    @property
    def shown(self) -> str:
        """Without the user and the password."""
        host = self.options.get("host") or "the local socket"
        return f"{host}, database {self.database}"

    @property
    def name(self) -> str:
        """Which database it is, whoever asks."""
        known = {"host": "", "port": 5432} | self.options
        return "postgresql " + " ".join(f"{part}={known[part]}" for part in sorted(known) if part not in _WHO)

    @property
    def database(self) -> str:
        return str(self.options.get("dbname") or "of the user's own name")


def parse(url: str) -> Address:
    """Taken apart here, not by the driver: its complaint about a wrong address may quote the password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _wrong() from None
    if parts.scheme.partition("+")[0] not in SCHEMES:
        raise _wrong()
    named = {
        "host": parts.hostname,
        "port": port,
        "user": parts.username and unquote(parts.username),
        "password": parts.password and unquote(parts.password),
        "dbname": unquote(parts.path.removeprefix("/")),
    }
    asked = parse_qsl(parts.query)
    options = {name: value for name, value in asked if name != "host"} | _hosts([v for n, v in asked if n == "host"])
    return Address({name: value for name, value in (named | options).items() if value})


def _hosts(given: list[str]) -> dict[str, str]:
    """A folder that holds the socket, or several hosts, each perhaps with its port."""
    if not given or (len(given) == 1 and given[0].startswith("/")):
        return {"host": given[0]} if given else {}
    pairs = [host.rpartition(":") if ":" in host else (host, "", "") for host in given]
    ports = {"port": ",".join(pair[2] for pair in pairs)} if any(pair[2] for pair in pairs) else {}
    return {"host": ",".join(pair[0] for pair in pairs), **ports}


def _wrong() -> ConfigurationError:
    return ConfigurationError(
        "this is not the address of a PostgreSQL database. Write postgresql://user:password@host/name, "
        "with %40 for an @ and %2F for a / inside the password."
    )
