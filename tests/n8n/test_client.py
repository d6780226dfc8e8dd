"""The wire and the client: what is sent, what is sent again, and what each status means."""

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
from chie.n8n.errors import ApiError, UnansweredError
from chie.n8n.http import Address, Wire, normalise


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes every request and hangs up without a word."""
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
def test_the_address_may_have_the_apis_path_or_not(given: str) -> None:
    assert normalise(given) == "http://n8n.example:5678"


def test_a_path_before_the_api_stays() -> None:
    assert normalise("https://example.com/n8n/api/v1") == "https://example.com/n8n"


@pytest.mark.parametrize(
    "given", ["n8n.example", "ftp://n8n.example", "http://", "https://user:secretvalue@host", "http://h/?t=secretvalue"]
)
def test_what_is_no_address_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        normalise(given)
    assert "N8N_URL" in refused.value.message
    assert "secretvalue" not in refused.value.message


async def test_a_certificate_file_that_cannot_be_read_is_named_by_its_setting(tmp_path: Path) -> None:
    client = N8nApiClient(Wire(Address("https://127.0.0.1:1", SecretStr("k"), {}, ca_bundle=tmp_path / "no.pem")))
    with pytest.raises(ConfigurationError, match="N8N_CA_BUNDLE"):
        await client.is_up()


def self_signed(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody knows, with its key in the same file."""
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


async def test_a_private_certificate_authority_is_trusted_only_when_it_is_named(tmp_path: Path) -> None:
    file = self_signed(tmp_path)
    with FakeN8n(certificate=file) as fake:
        knowing = N8nApiClient(Wire(Address(fake.url, SecretStr(KEY), {}, ca_bundle=file)))
        assert (await knowing.list_workflows({})).rows == []
        await knowing.aclose()
        with pytest.raises(ApiError, match="certificate is not trusted: name the file of its authority in N8N_CA_BUN"):
            await connect(fake.url).list_workflows({})


@pytest.mark.req("NW-6")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_reads_are_tried_again(fake: FakeN8n, status: int) -> None:
    fake.fail("GET", "/workflows", status, "later", times=2)
    pauses = Pauses()
    client = connect(fake.url, pauses)
    assert (await client.list_workflows({})).rows == []
    await client.aclose()
    assert (len(fake.seen), pauses) == (3, [0.3, 0.6])


@pytest.mark.parametrize(("asked", "waited"), [("2", 2.0), ("3600", 5.0), ("-1", 0.0), ("Wed, 21 Oct 2026", 0.3)])
async def test_a_wish_to_wait_is_granted_within_reason(fake: FakeN8n, asked: str, waited: float) -> None:
    fake.fail("GET", "/workflows", 429, headers={"Retry-After": asked})
    pauses = Pauses()
    client = connect(fake.url, pauses)
    await client.list_workflows({})
    await client.aclose()
    assert pauses == [waited]


async def test_reads_are_not_tried_for_ever(fake: FakeN8n) -> None:
    fake.fail("GET", "/workflows", 503, "down", times=9)
    client = connect(fake.url)
    with pytest.raises(ApiError, match=r"n8n answered 503: down\. n8n or a proxy before it is in trouble") as failed:
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


async def test_a_write_without_an_answer_may_have_arrived_and_is_said_so(mute: str) -> None:
    pauses = Pauses()
    client = connect(mute, pauses)
    with pytest.raises(UnansweredError, match="It may have been done all the same: look before you try again"):
        await client.create_workflow(order_flow())
    await client.aclose()
    assert pauses == []


async def test_a_read_without_an_answer_is_tried_again(mute: str) -> None:
    pauses = Pauses()
    client = connect(mute, pauses)
    with pytest.raises(ApiError, match="did not answer") as failed:
        await client.list_workflows({})
    await client.aclose()
    assert not isinstance(failed.value, UnansweredError)
    assert len(pauses) == 2


async def test_a_write_that_found_nobody_is_safe_to_send_again() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pauses = Pauses()
    client = connect(f"http://127.0.0.1:{port}", pauses)
    with pytest.raises(ApiError, match="Check that it runs and that N8N_URL is right") as failed:
        await client.create_workflow(order_flow())
    await client.aclose()
    assert not isinstance(failed.value, UnansweredError)
    assert len(pauses) == 2


async def test_publishing_falls_back_to_the_old_name_once_and_remembers_it() -> None:
    with FakeN8n(1) as fake:
        workflow = fake.add_workflow(nodes=order_flow()["nodes"])
        client = connect(fake.url)
        await client.publish_workflow(workflow["id"])
        await client.publish_workflow(workflow["id"])
        await client.unpublish_workflow(workflow["id"])
        await client.aclose()
        assert [seen.path.rsplit("/", 1)[1] for seen in fake.seen] == ["activate", "activate", "deactivate"]


async def test_a_405_also_means_that_the_name_is_unknown(fake: FakeN8n) -> None:
    workflow = fake.add_workflow(nodes=order_flow()["nodes"])
    fake.fail("POST", "/publish", 405, "POST method not allowed")
    client = connect(fake.url)
    await client.publish_workflow(workflow["id"])
    await client.aclose()
    assert fake.workflows[workflow["id"]]["active"] is True


async def test_a_refusal_to_publish_is_not_taken_for_an_unknown_name(fake: FakeN8n) -> None:
    workflow = fake.add_workflow(nodes=[])
    client = connect(fake.url)
    with pytest.raises(ApiError, match="no trigger node"):
        await client.publish_workflow(workflow["id"])
    await client.aclose()
    assert len(fake.seen) == 1


async def test_all_pages_of_tags_are_read_and_a_cursor_that_repeats_ends_it(fake: FakeN8n) -> None:
    for number in range(300):
        fake.tags[f"t{number}"] = {"id": f"t{number}", "name": f"タグ{number}"}
    client = connect(fake.url)
    assert len(await client.list_tags()) == 300
    endless = json.dumps({"data": [{"id": "1", "name": "x"}], "nextCursor": "same"})
    fake.fail("GET", "/tags", 200, text=endless, times=9)
    assert len(await client.list_tags()) == 2
    await client.aclose()


async def test_a_client_works_again_after_it_was_closed(fake: FakeN8n) -> None:
    client = connect(fake.url)
    assert await client.is_up()
    await client.aclose()
    await client.aclose()
    assert await client.is_up()
    await client.aclose()
