"""Programs that several of these tests run."""

import subprocess
import venv
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the real uv and uvx, from the package index."""
    folder = tmp_path_factory.mktemp("uv")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    return folder / "bin"
