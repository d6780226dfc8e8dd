"""Programs that several of these tests run."""

import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.real.n8n_server import RealN8n, installed, running


@pytest.fixture(scope="module")
def n8n(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealN8n]:
    if not installed():
        pytest.skip("n8n is not installed: run `make real`")
    with running(tmp_path_factory.mktemp("n8n")) as n8n:
        yield n8n


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the real uv and uvx, from the package index."""
    folder = tmp_path_factory.mktemp("uv")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    return folder / "bin"
