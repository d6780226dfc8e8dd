"""The container's command as Cloud Run runs it: port, host names, several instances, and shutdown."""

import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle
from threading import Event, Thread
from typing import Any

import httpx2
import pytest
import yaml
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from tests.deploy.container import DEPLOY, RUN_APP, Container, container, start
from tests.fakes.vector_search import FakeVectorSearch, InjectedError, vector_search

from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.provision import CollectionProvisioner

pytestmark = pytest.mark.req("KG-10")

SERVICE = yaml.safe_load((DEPLOY / "cloud-run.yaml").read_text("utf-8"))
SPEC = SERVICE["spec"]["template"]["spec"]["containers"][0]
ARGS: list[str] = SPEC["args"]
PROXY = {
    one["name"]: one["value"] for one in SPEC["env"] if one["name"] in ("CHIE_BEHIND_PROXY_AUTH", "CHIE_ALLOWED_HOSTS")
}
HEADERS = {"host": RUN_APP, "accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
TIMEOUT_SECONDS = 60  # machines can be busy


@pytest.fixture(scope="module")
def service() -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        yield service


@pytest.fixture(scope="module")
def settings(service: FakeVectorSearch) -> dict[str, str]:
    """The environment of the service's YAML."""
    config = CollectionConfig(project="p", location="l", collection="notes", emulator=service.address)
    CollectionProvisioner(config=config).provision()
    return PROXY | {
        "CHIE_KNOWLEDGE_STORE": "vector-search",
        "GOOGLE_CLOUD_PROJECT": "p",
        "VECTOR_SEARCH_LOCATION": "l",
        "VECTOR_SEARCH_COLLECTION": "notes",
        "CHIE_VECTOR_SEARCH_EMULATOR": service.address,
    }


@pytest.fixture(scope="module")
def pair(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Container, Container]]:
    home = str(tmp_path_factory.mktemp("home"))
    with container(ARGS, CHIE_HOME=home, **settings) as one, container(ARGS, CHIE_HOME=home, **settings) as other:
        yield one, other


def get(url: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url, headers=HEADERS | headers, timeout=TIMEOUT_SECONDS)


def post(url: str, message: dict[str, Any], **headers: str) -> httpx2.Response:
    return httpx2.post(url, json=message, headers=HEADERS | headers, timeout=TIMEOUT_SECONDS)


def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """One request without a session."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = post(f"{url}/mcp", message)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return result


def test_it_listens_on_all_interfaces_at_port(pair: tuple[Container, Container]) -> None:
    other = f"http://127.0.0.2:{pair[0].port}"  # a server on 127.0.0.1 would not respond
    assert get(f"{other}/health").json()["status"] == "healthy"
    assert call(other, "search_knowledge", query="zebra") == {"hits": [], "notice": None}


@pytest.mark.parametrize("command", [ARGS, None], ids=["knowledge", "app"])
def test_it_listens_on_the_port_that_the_platform_chose(command: list[str] | None, settings: dict[str, str]) -> None:
    with closing(socket.create_server(("0.0.0.0", 0))) as probe:  # noqa: S104 - as the container listens
        chosen: int = probe.getsockname()[1]
    with container(command, PORT=str(chosen), **settings) as running:
        assert running.port == chosen
        assert get(f"http://127.0.0.1:{chosen}/health").json()["status"] == "healthy"


def test_only_its_own_host_names_are_allowed_except_for_probes(pair: tuple[Container, Container]) -> None:
    url = pair[0].url
    unknown = post(f"{url}/mcp", {}, host="evil.example")
    foreign = post(f"{url}/mcp", {}, origin="https://evil.example")
    assert (unknown.status_code, foreign.status_code) == (421, 403)
    own = post(f"{url}/mcp", LIST, origin=f"https://{RUN_APP}")
    tunnel = {"origin": "http://127.0.0.1:3000"}  # gcloud's, which the browser takes for the page's own server
    tunnelled = post(f"{url}/mcp", LIST, **tunnel, **{"sec-fetch-site": "same-origin"})
    beside = post(f"{url}/mcp", LIST, **tunnel, **{"sec-fetch-site": "same-site"})
    assert (own.status_code, tunnelled.status_code, beside.status_code) == (200, 200, 403)
    assert get(f"{url}/health", host="any.name.of.the.platform").status_code == 200


def test_default_command_serves_the_whole_app(settings: dict[str, str]) -> None:
    with container(None, **settings) as running:
        health = get(f"{running.url}/health")
        assert (health.status_code, health.json()["servers"]["knowledge"]["status"]) == (200, "healthy")
        assert get(f"{running.url}/api/agents").status_code == 200
        assert get(f"{running.url}/api/agents", host="evil.example").status_code == 421


@pytest.mark.parametrize(
    ("args", "changed", "expected"),
    [
        (None, {"CHIE_BEHIND_PROXY_AUTH": "0"}, "Refusing to listen on 0.0.0.0"),
        (ARGS, {"CHIE_ALLOWED_HOSTS": ""}, "not configured: CHIE_ALLOWED_HOSTS"),
    ],
)
def test_it_does_not_start_without_authentication(
    args: list[str] | None, changed: dict[str, str], expected: str
) -> None:
    process = start(args, PROXY | changed)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert expected in output
    assert "Traceback" not in output


class Alternating(httpx2.AsyncBaseTransport):
    """Distributes a client's requests round robin, like a load balancer."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = cycle(ports)
        self._inner = httpx2.AsyncHTTPTransport()
        self.used: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.used.append(next(self._ports))
        request.url = request.url.copy_with(port=self.used[-1])
        request.headers["host"] = RUN_APP
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_processes_serve_one_client_alternately(mode: str, pair: tuple[Container, Container]) -> None:
    balancer = Alternating([running.port for running in pair])

    def make_client(*_: Any, **options: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=balancer, **options)

    transport = StreamableHttpTransport(f"{pair[0].url}/mcp", httpx_client_factory=make_client)
    async with Client(transport, mode=mode) as client:
        saved = [await client.call_tool("save_knowledge", {"content": f"{mode} finding {n}"}) for n in range(4)]
        listed = await client.call_tool("list_knowledge", {})
    ids = {result.data.id for result in saved}
    assert ids <= {note["id"] for note in listed.structured_content["notes"]}
    assert all(balancer.used.count(running.port) >= 2 for running in pair)


@pytest.mark.parametrize("args", [None, ARGS])
def test_running_request_is_finished_before_shutdown(
    args: list[str] | None, settings: dict[str, str], service: FakeVectorSearch
) -> None:
    held = InjectedError("query_data_objects", None, barrier=Event())
    with container(args, **settings) as running:
        service.injected.append(held)
        answers: list[httpx2.Response] = []
        path = "/api/knowledge" if args is None else "/mcp"
        asking = Thread(target=lambda: answers.append(_browse(f"{running.url}{path}")))
        asking.start()
        assert held.reached.wait(30)
        closing = Thread(target=lambda: running.stop(TIMEOUT_SECONDS))
        closing.start()
        _wait_until_closed(running.port)
        assert held.barrier
        held.barrier.set()
        asking.join()
        closing.join()
    assert answers[0].status_code == 200
    assert running.process.returncode in (0, -signal.SIGTERM)  # not killed


def _browse(url: str) -> httpx2.Response:
    if url.endswith("/mcp"):
        params = {"name": "list_knowledge", "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return post(url, message)
    return get(url)


def _wait_until_closed(port: int) -> None:
    """New connections are refused after the signal. The test's own timeout bounds the loop."""
    while not _refused(port):
        pass


def _refused(port: int) -> bool:
    try:
        get(f"http://127.0.0.1:{port}/health")
    except httpx2.ConnectError:
        return True
    except httpx2.HTTPError:  # closed while connecting
        return False
    return False


LOOPBACK = {"PORT": "0", "CHIE_MODEL_HOST": "127.0.0.1"}  # tests look up no names


def composed(shell: dict[str, str]) -> dict[str, str]:
    """The container's environment as Docker Compose makes it: a variable without a value comes from the shell."""
    service = yaml.safe_load((DEPLOY.parent / "compose.yaml").read_text("utf-8"))["services"]["chie"]
    named: dict[str, str | None] = service["environment"]
    return {
        name: shell[name] if value is None else value
        for name, value in named.items()
        if value is not None or name in shell
    }


def test_docker_compose_up_runs_with_the_models_of_the_shell() -> None:
    """Without Docker: the image's command with the environment of the compose file at the root."""
    assert composed({})["CHIE_MODEL_HOST"] == "host.docker.internal"
    shell = {"OPENAI_API_KEY": "sk-sesame", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "AWS_ACCESS_KEY_ID": "AKIA0"}
    with container(None, **composed(shell) | LOOPBACK) as running:
        local = {"host": f"localhost:{running.port}"}
        assert get(f"{running.url}/health", **local).json()["status"] == "healthy"
        setup = get(f"{running.url}/api/setup", **local).json()
        states = {endpoint["id"]: endpoint for endpoint in setup["endpoints"]}
        assert states["own"]["address"] == "http://127.0.0.1:9/v1"
        assert (states["bedrock"]["state"], states["anthropic"]["state"]) == ("configured", "missing")
        assert get(f"{running.url}/api/setup", host="evil.example").status_code == 421


def test_docker_compose_up_needs_no_variable() -> None:
    with container(None, **composed({}) | LOOPBACK) as running:
        assert get(f"{running.url}/health", host="localhost").json()["status"] == "healthy"
