"""Entries of `CHIE_FETCH_ALLOW`: a host, a pattern of hosts or a network, each with an optional port."""

import ipaddress
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

from chie.web_fetch.addresses import IPAddress

_WITH_PORT = re.compile(r"(?P<host>\[[^\]]+\]|[^:]+):(?P<port>\d{1,5})")
_HOST = re.compile(r"[a-z0-9*_]([a-z0-9._*-]*[a-z0-9*_])?")


@dataclass(frozen=True)
class AllowedHost:
    """`network` is None for a pattern of hosts; without a `port` every port is allowed."""

    pattern: str
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None
    port: int | None

    @classmethod
    def parse(cls, entry: str) -> Self:
        """Raises ValueError."""
        with_port = _WITH_PORT.fullmatch(entry)
        host = (with_port["host"] if with_port else entry).strip("[]").rstrip(".").lower()
        port = int(with_port["port"]) if with_port else None
        try:
            return cls(host, ipaddress.ip_network(host, strict=False), port)
        except ValueError:
            pass
        if not _HOST.fullmatch(host) or host.strip("*.") == "":
            raise ValueError("neither a host nor a network")
        return cls(host, None, port)

    def covers_host(self, host: str, port: int) -> bool:
        return self._covers_port(port) and self.network is None and fnmatchcase(host.rstrip(".").lower(), self.pattern)

    def covers_address(self, address: IPAddress, port: int) -> bool:
        return self._covers_port(port) and self.network is not None and address in self.network

    def _covers_port(self, port: int) -> bool:
        return self.port in (None, port)
