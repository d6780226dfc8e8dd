"""The HTTP client: what is sent, what is retried, and the errors."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.caller import Pauses, connect, order_flow

from chie.errors import ConfigurationError
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError, NoResponseError
from chie.n8n.http import Endpoint, HttpClient, normalized


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that reads every request and closes the connection without a response."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken: list[int] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(65536)
            taken.append(1)
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()


@pytest.mark.parametrize(
    "given",
    [
        "http://n8n.example:5678",
        "http://n8n.example:5678/",
        " http://n8n.example:5678/api/v1 ",
        "http://n8n.example:5678/api/v1/",
        "http://n8n.example:5678/api",
    ],
)
def test_url_may_include_the_path_of_the_api(given: str) -> None:
    assert normalized(given) == "http://n8n.example:5678"


def test_path_before_the_api_is_kept() -> None:
    assert normalized("https://example.com/n8n/api/v1") == "https://example.com/n8n"


@pytest.mark.parametrize(
    "given", ["n8n.example", "ftp://n8n.example", "http://", "https://user:secretvalue@host", "http://h/?t=secretvalue"]
)
def test_invalid_url_is_rejected_without_repeating_it(given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        normalized(given)
    assert "N8N_URL" in caught.value.message
    assert "secretvalue" not in caught.value.message


async def test_unreadable_ca_bundle_is_a_configuration_error(tmp_path: Path) -> None:
    client = N8nApiClient(
        HttpClient(Endpoint("https://127.0.0.1:1", SecretStr("k"), {}, ca_bundle=tmp_path / "no.pem"))
    )
    with pytest.raises(ConfigurationError, match="N8N_CA_BUNDLE"):
        await client.is_up()


def self_signed(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "n8n in the test")])
    start = datetime.now(UTC) - timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "n8n.pem"
    file.write_bytes(plain + certificate.public_bytes(serialization.Encoding.PEM))
    return file


async def test_private_certificate_authority_must_be_configured(tmp_path: Path) -> None:
    file = self_signed(tmp_path)
    with FakeN8n(certificate=file) as fake:
        knowing = N8nApiClient(HttpClient(Endpoint(fake.url, SecretStr(KEY), {}, ca_bundle=file)))
        assert (await knowing.list_workflows({})).rows == []
        await knowing.aclose()
        with pytest.raises(ApiError, match=r"certificate is not trusted\. Set `N8N_CA_BUNDLE`") as failed:
            await connect(fake.url).list_workflows({})
        assert failed.value.code == "n8n.certificate_untrusted"


@pytest.mark.req("NW-6")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_reads_are_retried(fake: FakeN8n, status: int) -> None:
    fake.fail("GET", "/workflows", status, "later", times=2)
    pauses = Pauses()
    client = connect(fake.url, pauses)
    assert (await client.list_workflows({})).rows == []
    await client.aclose()
    assert (len(fake.seen), pauses) == (3, [0.3, 0.6])


@pytest.mark.parametrize(("asked", "waited"), [("2", 2.0), ("3600", 5.0), ("-1", 0.0), ("Wed, 21 Oct 2026", 0.3)])
async def test_retry_after_is_respected_up_to_a_limit(fake: FakeN8n, asked: str, waited: float) -> None:
    fake.fail("GET", "/workflows", 429, headers={"Retry-After": asked})
    pauses = Pauses()
    client = connect(fake.url, pauses)
    await client.list_workflows({})
    await client.aclose()
    assert pauses == [waited]


async def test_reads_are_retried_a_limited_number_of_times(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows", 503, "down", times=9)
    client = connect(fake.url)
    with pytest.raises(
        ApiError, match=r"n8n returned 503: down\. n8n or a proxy in front of it has a problem"
    ) as failed:
        await client.list_workflows({})
    await client.aclose()
    assert (failed.value.status_code, len(fake.seen)) == (503, 3)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_writes_are_never_sent_twice(fake: FakeN8n, status: int) -> None:
    fake.fail("POST", "/workflows", status, "later", times=5)
    client = connect(fake.url)
    with pytest.raises(ApiError):
        await client.create_workflow(order_flow())
    await client.aclose()
    assert len(fake.seen) == 1


async def test_write_without_a_response_is_not_retried(mute: str) -> None:
    pauses = Pauses()
    client = connect(mute, pauses)
    with pytest.raises(NoResponseError, match="The request may have been executed: check before you try again"):
        await client.create_workflow(order_flow())
    await client.aclose()
    assert pauses == []


async def test_read_without_a_response_is_retried(mute: str) -> None:
    pauses = Pauses()
    client = connect(mute, pauses)
    with pytest.raises(ApiError, match="did not respond") as failed:
        await client.list_workflows({})
    await client.aclose()
    assert not isinstance(failed.value, NoResponseError)
    assert len(pauses) == 2


async def test_write_that_was_never_sent_is_retried() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pauses = Pauses()
    client = connect(f"http://127.0.0.1:{port}", pauses)
    with pytest.raises(ApiError, match="Check that it is running and that `N8N_URL` is correct") as failed:
        await client.create_workflow(order_flow())
    await client.aclose()
    assert not isinstance(failed.value, NoResponseError)
    assert len(pauses) == 2


async def test_publishing_falls_back_to_the_old_route_and_remembers_it() -> None:
    with FakeN8n(1) as fake:
        workflow = fake.add_workflow(nodes=order_flow()["nodes"])
        client = connect(fake.url)
        await client.publish_workflow(workflow["id"])
        await client.publish_workflow(workflow["id"])
        await client.unpublish_workflow(workflow["id"])
        await client.aclose()
        assert [seen.path.rsplit("/", 1)[1] for seen in fake.seen] == ["activate", "activate", "deactivate"]


async def test_405_also_means_that_the_route_does_not_exist(fake: FakeN8n) -> None:
    workflow = fake.add_workflow(nodes=order_flow()["nodes"])
    fake.fail("POST", "/publish", 405, "POST method not allowed")
    client = connect(fake.url)
    await client.publish_workflow(workflow["id"])
    await client.aclose()
    assert fake.workflows[workflow["id"]]["active"] is True


async def test_rejected_publishing_does_not_try_the_old_route(fake: FakeN8n) -> None:
    workflow = fake.add_workflow(nodes=[])
    client = connect(fake.url)
    with pytest.raises(ApiError, match="no trigger node"):
        await client.publish_workflow(workflow["id"])
    await client.aclose()
    assert len(fake.seen) == 1


async def test_all_pages_of_tags_are_read_and_a_repeated_cursor_ends_it(fake: FakeN8n) -> None:
    for number in range(300):
        fake.tags[f"t{number}"] = {"id": f"t{number}", "name": f"タグ{number}"}
    client = connect(fake.url)
    assert len(await client.list_tags()) == 300
    endless = json.dumps({"data": [{"id": "1", "name": "x"}], "nextCursor": "same"})
    fake.fail("GET", "/tags", 200, text=endless, times=9)
    assert len(await client.list_tags()) == 2
    await client.aclose()


async def test_client_can_be_used_after_closing(fake: FakeN8n) -> None:
    client = connect(fake.url)
    assert await client.is_up()
    await client.aclose()
    await client.aclose()
    assert await client.is_up()
    await client.aclose()
