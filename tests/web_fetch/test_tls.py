"""Pages over TLS: the connection goes to the checked address, the certificate must be the host's."""

import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fastmcp import Client
from tests.fakes.web_site import WebSite, plain

from chie.web_fetch import reader
from chie.web_fetch.server import create_server
from chie.web_fetch.settings import FetchSettings
from chie.web_fetch.url_policy import UrlPolicy


def certificate(folder: Path, host: str) -> Path:
    """Self-signed; a PEM file with the key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False).sign(
        key, hashes.SHA256()
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "site.pem"
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebSite]:
    """Its certificate is for `site.example`."""
    file = certificate(tmp_path, "site.example")
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(file))
    server.load_cert_chain(file)
    monkeypatch.setattr(reader, "_tls", lambda: client)
    with WebSite({"/": plain("安全なページ")}, tls=server) as site:
        yield site


async def loopback(host: str, port: int) -> Sequence[str]:
    assert host.endswith(".example")
    assert port
    return ["127.0.0.1"]


@pytest.mark.parametrize(("host", "is_error"), [("site.example", False), ("other.example", True)])
async def test_certificate_must_be_of_the_host(site: WebSite, host: str, is_error: bool) -> None:
    policy = UrlPolicy(["127.0.0.1"], resolver=loopback)
    async with Client(create_server(FetchSettings(), policy)) as client:
        result = await client.call_tool_mcp("fetch", {"url": f"https://{host}:{site.port}/"})
    assert bool(result.is_error) is is_error
    assert site.requests == ([] if is_error else [(f"site.example:{site.port}", "/")])
    if is_error:
        assert (result.structured_content or {})["code"] == "web_fetch.host_unreachable"
