"""Advice names commands that work in the installation where it is given."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.deploy.container import DEPLOY

from chie import __version__
from chie.cli import main
from chie.connect.program import REQUIRED_EXTRAS, find_command
from chie.installation import commands
from chie.installation.commands import followable, install_extra, install_package, repair_chie, upgrade_chie
from chie.installation.environment import IMAGE_MARKER, Kind, find_kind, find_origin, installed_extras

ROOT = Path(__file__).parents[2]
WHEEL = {"url": "file:///srv/dist/chie-0.1.0-py3-none-any.whl", "archive_info": {}}
GIT = {"url": "https://git.example/chie", "vcs_info": {"vcs": "git", "commit_id": "1f0c"}}
REQUIRES = (
    "click>=8.2",
    "boto3>=1.44; extra == 'bedrock'",
    "openai>=3.0; extra == 'openai'",
    "surely-not-installed; extra == 'google'",
    "chie[bedrock,openai]; extra == 'all'",
)


@dataclass(frozen=True)
class Installed:
    """Chie's own metadata, as an installer writes it."""

    direct_url: dict[str, Any] | None
    requires: tuple[str, ...] = REQUIRES

    def read_text(self, name: str) -> str | None:
        return json.dumps(self.direct_url) if name == "direct_url.json" and self.direct_url else None


def install(monkeypatch: pytest.MonkeyPatch, prefix: Path, origin: dict[str, Any] | None = None) -> None:
    """Pretends that this process runs in the environment `prefix`."""
    real = metadata.distribution
    installed = Installed(origin)
    monkeypatch.setattr(
        "chie.installation.environment.distribution", lambda name: installed if name == "chie" else real(name)
    )
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))


def test_in_a_clone_its_own_python_installs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests run in a clone. The reader is in its folder, or somewhere else."""
    assert (find_kind(), find_origin().path) == (Kind.CLONE, ROOT)
    assert install_extra("google") == f"{sys.executable} -m pip install -e '{ROOT}[google]'"
    assert upgrade_chie() == f"git -C {ROOT} pull && make -C {ROOT}"
    assert followable("Run `chie restore FILE`.") == f"Run `{Path(sys.executable).with_name('chie')} restore FILE`."
    monkeypatch.chdir(ROOT)
    assert install_extra("google") == ".venv/bin/python -m pip install -e '.[google]'"
    assert install_package("chie-agent-adk") == ".venv/bin/python -m pip install -e packages/chie-agent-adk"
    assert (upgrade_chie(), repair_chie()) == ("git pull && make run", "git -C . checkout -- src")
    assert followable("chie users add NAME") == ".venv/bin/chie users add NAME"
    assert followable("mv a b && chie users add NAME") == "mv a b && .venv/bin/chie users add NAME"
    assert followable("Chie and chie.db stay") == "Chie and chie.db stay"


def test_the_command_for_a_clone_is_accepted_by_its_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(install_extra("postgres"))
    offline = ["--dry-run", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*words, *offline], check=True, timeout=240)


def test_a_chie_on_the_path_is_called_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make install` links the programs of the clone."""
    (tmp_path / "chie").symlink_to(Path(sys.executable).with_name("chie"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("chie")
    assert followable("chie users add NAME") == "chie users add NAME"


@pytest.mark.parametrize("origin", [None, WHEEL])
def test_in_an_environment_its_own_pip_is_used(
    origin: dict[str, Any] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "環境 1", origin)
    monkeypatch.chdir("/")
    python = f"'{tmp_path}/環境 1/bin/python'"
    assert install_extra("bedrock") == f"{python} -m pip install 'chie[bedrock]'"
    assert install_package("botocore[crt]") == f"{python} -m pip install 'botocore[crt]'"
    new = "chie-NEW-py3-none-any.whl" if origin else "chie"
    assert upgrade_chie() == f"{python} -m pip install --upgrade {new}"
    monkeypatch.setattr(commands, "find_spec", lambda _: None)  # as in an environment of uv
    assert install_extra("bedrock") == f"uv pip install --python {python} 'chie[bedrock]'"


def test_in_a_uv_tool_the_earlier_requirements_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path)
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "chie" }]\n', encoding="utf-8")
    assert install_extra("bedrock") == "uv tool install 'chie[bedrock]'"
    receipt.write_text(
        '[tool]\nrequirements = [{ name = "chie", extras = ["openai"] }, { name = "adk", specifier = ">=1" }]\n',
        encoding="utf-8",
    )
    assert install_extra("bedrock") == "uv tool install 'chie[bedrock,openai]' --with 'adk>=1'"
    assert install_package("anthropic") == "uv tool install 'chie[openai]' --with 'adk>=1' --with anthropic"
    assert (upgrade_chie(), repair_chie()) == ("uv tool upgrade chie", "uv tool upgrade --reinstall chie")
    install(monkeypatch, tmp_path, WHEEL)
    assert install_extra("bedrock").startswith(f"uv tool install 'chie[bedrock,openai] @ {WHEEL['url']}'")


def test_pipx_installs_into_its_own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path)
    (tmp_path / "pipx_metadata.json").write_text("{}", encoding="utf-8")
    assert install_extra("bedrock") == "pipx runpip chie install 'chie[bedrock]'"
    assert (upgrade_chie(), repair_chie()) == ("pipx upgrade chie", "pipx reinstall chie")


def test_in_the_image_the_image_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Dockerfile leaves a marker in the environment; there is no pip in it."""
    marker = re.search(r"touch /opt/chie/(\S+)$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert marker
    install(monkeypatch, tmp_path)
    (tmp_path / marker[1]).touch()
    assert install_extra("bedrock") == install_package("x") == "docker build -f deploy/Dockerfile -t chie ."
    assert upgrade_chie() == "git pull && docker compose up --build --detach"


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (None, f"chie[bedrock,openai]=={__version__}"),
        (WHEEL, f"chie[bedrock,openai] @ {WHEEL['url']}"),
        (GIT, "chie[bedrock,openai] @ git+https://git.example/chie@1f0c"),
    ],
)
def test_through_uvx_the_extras_are_kept(
    origin: dict[str, Any] | None, requirement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "archive-v0" / "abc", origin)
    (tmp_path / "uvx").touch(mode=0o755)
    monkeypatch.setenv("UV", str(tmp_path / "uv"))
    assert installed_extras() == {"bedrock", "openai"}
    assert find_command("bedrock-kb").args == ("--from", requirement, "chie", "mcp", "bedrock-kb")
    assert followable("chie serve") == f"uvx --from '{requirement}' chie serve"
    monkeypatch.setattr("chie.installation.environment._is_installed", lambda _: False)
    assert install_extra("bedrock").startswith("uvx --from 'chie[bedrock]")
    [extra] = REQUIRED_EXTRAS["bedrock-kb"]
    assert f"chie[{extra}]" in find_command("bedrock-kb").args[1]  # uvx installs what the server needs
    plain = find_command("knowledge").args[1]
    assert plain in (
        f"chie=={__version__}",
        "/srv/dist/chie-0.1.0-py3-none-any.whl",
        "git+https://git.example/chie@1f0c",
    )


def test_errors_of_the_command_line_name_the_program_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(main, ["notes", "show", "k-nobody"])
    assert "`.venv/bin/chie notes list`" in done.output


@pytest.mark.parametrize("file", sorted((ROOT / "src" / "chie" / "messages").glob("*/*.json")), ids=str)
def test_no_message_has_an_install_command_of_its_own(file: Path) -> None:
    texts = json.loads(file.read_text("utf-8"))
    fixed = {code for code, text in texts.items() if re.search(r"\b(pip|pipx|uv) (tool )?install\b", text)}
    assert fixed - {"service.uvx_not_supported"} == set()


def table() -> dict[str, list[str]]:
    """The commands in docs/upgrade.md by how Chie was installed: for an extra, an upgrade and an uninstall."""
    rows = re.findall(r"^\| `(.+)", (ROOT / "docs" / "upgrade.md").read_text("utf-8"), re.MULTILINE)
    return {row.partition("`")[0]: [cell.strip(" `") for cell in row.split("|")[1:4]] for row in rows}


@pytest.mark.parametrize(
    ("row", "marker"),
    [
        ("uv tool install chie", "uv-receipt.toml"),
        ("pipx install chie", "pipx_metadata.json"),
        ("pip install chie", ""),
    ],
)
def test_page_on_upgrades_has_the_same_commands(
    row: str, marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path)
    if marker:
        (tmp_path / marker).touch()
    own = f"{tmp_path}/bin/python -m "
    assert [install_extra("bedrock").removeprefix(own), upgrade_chie().removeprefix(own)] == table()[row][:2]


def test_page_on_upgrades_has_the_commands_of_a_clone_and_of_the_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert [install_extra("bedrock"), upgrade_chie()] == table()["make run"][:2]
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / IMAGE_MARKER).touch()
    assert upgrade_chie() == table()["docker compose up"][1]
