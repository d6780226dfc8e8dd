"""The files in deploy/ refer to existing commands, settings, paths and ports, and contain no secrets."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Command, Context, Group, Option
from docs.generate import _settings
from starlette.testclient import TestClient
from tests.deploy.container import DEPLOY, ROOT, instruction

from chie.app import create_app
from chie.cli import main
from chie.knowledge.server import create_server

pytestmark = pytest.mark.req("KG-10")

DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
CLOUD_RUN = ["cloud-run.yaml", "cloud-run-app.yaml"]
COMPOSE = ["../compose.yaml", "compose.yaml"]
AWS_KEYS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}
PASSED_ON = {*AWS_KEYS, "HTTPS_PROXY", "NO_PROXY"}  # read by SDKs
SECRET = re.compile(r"KEY|TOKEN|PASSWORD|SECRET|DATABASE_URL")


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text("utf-8")))


def containers(name: str) -> Iterator[dict[str, Any]]:
    for document in documents(name):
        template = document["spec"].get("template", {}) if "spec" in document else {}
        yield from template.get("spec", {}).get("containers", [])


def compose(name: str) -> dict[str, Any]:
    service: dict[str, Any] = documents(name)[0]["services"]["chie"]
    return service


def known_variables() -> set[str]:
    """Variables of all settings and of all options of `serve` and `mcp`."""
    found = {"PORT", *PASSED_ON}
    for kind in _settings().values():
        prefix = kind.model_config.get("env_prefix", "")
        found |= {f"{prefix}{field}".upper() for field in kind.model_fields}
    for command in (main.commands["serve"], main.commands["mcp"]):
        found |= {str(option.envvar) for option in command.params if isinstance(option, Option) and option.envvar}
    return found


ENVIRONMENTS = [
    *(
        (name, {one["name"]: one for one in found["env"]})
        for name in [*CLOUD_RUN, "kubernetes.yaml"]
        for found in containers(name)
    ),
    *(
        (name, {variable: {"value": value} for variable, value in compose(name)["environment"].items()})
        for name in COMPOSE
    ),
]


@pytest.mark.parametrize(("name", "variables"), ENVIRONMENTS, ids=[name for name, _ in ENVIRONMENTS])
def test_every_variable_is_a_setting(name: str, variables: dict[str, Any]) -> None:
    assert variables, name
    assert set(variables) - known_variables() == set()
    assert {"CHIE_BEHIND_PROXY_AUTH", "CHIE_ALLOWED_HOSTS"} <= set(variables)


@pytest.mark.parametrize(("name", "variables"), ENVIRONMENTS, ids=[name for name, _ in ENVIRONMENTS])
def test_no_secret_is_in_a_file(name: str, variables: dict[str, Any]) -> None:
    for variable, given in variables.items():
        if SECRET.search(variable) and given.get("value", "") is not None:
            assert "secretKeyRef" in given.get("valueFrom", {}) or "${POSTGRES_PASSWORD:?" in given["value"], variable
    assert not re.search(r"://\w+:\w+@", (DEPLOY / name).read_text("utf-8"))


@pytest.mark.parametrize("name", [*CLOUD_RUN, "kubernetes.yaml"])
def test_command_exists_and_listens_on_all_interfaces(name: str) -> None:
    for found in containers(name):
        words = found.get("args", instruction("CMD"))
        command: Command = main
        while isinstance(command, Group):
            step = command.get_command(Context(command), words[0])
            assert step is not None, words
            command, words = step, words[1:]
        parsed = command.make_context(command.name, list(words), resilient_parsing=False)
        assert parsed.params["host"] == "0.0.0.0"  # noqa: S104
        assert parsed.params.get("http", True) is True


@pytest.mark.parametrize("name", [*CLOUD_RUN, "kubernetes.yaml"])
def test_probes_use_an_existing_path_and_the_exposed_port(name: str) -> None:
    exposed = int(re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)[-1])
    with TestClient(create_app({"knowledge": create_server()}), base_url="http://127.0.0.1") as client:
        for found in containers(name):
            assert [port["containerPort"] for port in found["ports"]] == [exposed]
            probes = [found[kind]["httpGet"]["path"] for kind in ("startupProbe", "readinessProbe") if kind in found]
            assert probes
            assert all(client.get(path).status_code == 200 for path in probes)


@pytest.mark.parametrize("name", COMPOSE)
def test_compose_publishes_its_port_on_loopback_only(name: str) -> None:
    chie = compose(name)
    assert chie["ports"] in (["127.0.0.1:8080:8080"], ["127.0.0.1:${CHIE_PORT:-8080}:8080"])
    assert chie["environment"]["PORT"] == "8080"
    context = (DEPLOY / name).parent / chie["build"]["context"]
    assert context.resolve() == ROOT
    assert (context / chie["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    assert chie["extra_hosts"] == ["host.docker.internal:host-gateway"]


def test_compose_files_differ_only_by_the_database() -> None:
    plain, postgres = map(compose, COMPOSE)
    assert set(postgres["environment"]) - set(plain["environment"]) == {"CHIE_DATABASE_URL"}
    assert set(plain["environment"]) <= set(postgres["environment"])
    own = {"build", "environment", "depends_on", "ports"}
    assert {key: plain[key] for key in plain if key not in own} == {
        key: postgres[key] for key in postgres if key not in own
    }
    assert documents("compose.yaml")[0]["services"]["postgres"]["image"].startswith("pgvector/pgvector:")


@pytest.mark.parametrize("name", CLOUD_RUN)
def test_host_names_of_cloud_run_are_allowed(name: str) -> None:
    (document,) = documents(name)
    (found,) = containers(name)
    pattern = next(one["value"] for one in found["env"] if one["name"] == "CHIE_ALLOWED_HOSTS")
    service = document["metadata"]["name"]
    for host in (f"{service}-123456789012.us-central1.run.app", f"{service}-ab12cd34ef-uc.a.run.app"):
        assert fnmatchcase(host, pattern)
    assert not fnmatchcase("evil.example", pattern)


class TestImage:
    def test_copied_files_exist_and_are_not_ignored(self) -> None:
        """Only copies from the build context are checked, not those from other stages."""
        lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
        sources = [source for line in lines for source in line.split()]
        allowed = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
        assert sources
        for source in sources:
            assert (ROOT / source).exists(), source
            assert any(Path(source).is_relative_to(path) for path in allowed), source

    def test_page_is_built_into_the_package(self) -> None:
        built = re.search(r'outDir: "\.\./(.+)"', (ROOT / "web" / "vite.config.ts").read_text("utf-8"))
        assert built
        assert f"COPY --from=page /build/{built[1]} {built[1]}" in DOCKERFILE
        assert "WORKDIR /build/web" in DOCKERFILE

    def test_it_runs_unprivileged_and_receives_signals_directly(self) -> None:
        last = DOCKERFILE.rpartition("\nFROM ")[2]
        assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
        assert instruction("ENTRYPOINT") == ["chie"]
        assert all(isinstance(word, str) for word in instruction("CMD"))

    def test_the_model_is_in_the_package(self) -> None:
        """Nothing has to be downloaded at start-up."""
        from chie.knowledge import embedding

        folder = Path(embedding.__path__[0]) / "default"
        assert (folder / "model.onnx").stat().st_size > 1_000_000
        assert (ROOT / "src" / "chie") in folder.parents

    def test_its_lock_has_the_versions_that_are_tested_and_every_extra(self) -> None:
        def versions(name: str) -> dict[str, str]:
            text = (ROOT / "requirements" / name).read_text("utf-8")
            return dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)", text, re.MULTILINE))

        image, tested = versions("image.txt"), versions("dev.txt")
        assert {name: tested.get(name) for name in image} == image
        assert {"google-cloud-vectorsearch", "psycopg", "boto3", "anthropic", "hatchling"} <= set(image)
        assert "pytest" not in image
