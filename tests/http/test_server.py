"""Where the server may listen."""

import socket

import pytest
from starlette.applications import Starlette

from chie.errors import ConfigurationError
from chie.http.server import require_loopback, run_http


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_is_allowed(host: str) -> None:
    require_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com", ""])  # noqa: S104
def test_other_hosts_are_refused_without_authentication(host: str) -> None:
    with pytest.raises(ConfigurationError, match="Refusing to listen") as caught:
        require_loopback(host)
    assert (caught.value.code, caught.value.reason.params) == ("http.open_address", {"host": host})


def test_port_in_use_is_a_configuration_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError) as caught:
            run_http(Starlette(), host="127.0.0.1", port=port, announce=print)
    assert (caught.value.code, caught.value.reason.params["port"]) == ("http.cannot_listen", port)
