"""Chie and everything it depends on, with a method for each outage."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DISK_MB = 512
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
DAY = 86_400


class Environment:
    """Needs root to mount a small disk, and Debian's `faketime` to change the clock."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._model_port = _free_port()
        self._clock = home.parent / "clock"
        self._model: subprocess.Popen[bytes] | None = None
        self._app: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.home)], check=True)
        self._clock.write_text("+0\n")
        peer = {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "modern"], "cwd": str(ROOT)}
        (self.home / "servers.json").write_text(json.dumps({"mcpServers": {"peer": peer}}))
        soak = {"id": "soak", "kind": "openai", "servers": ["peer"], "approved_tools": ["*"]}
        soak["base_url"] = f"http://127.0.0.1:{self._model_port}/v1"
        (self.home / "agents.json").write_text(json.dumps([soak]))
        self.start_model()
        self.start_app()

    def close(self) -> None:
        for process in (self._app, self._model):
            if process and process.poll() is None:
                process.terminate()
                process.wait(20)
        subprocess.run(["umount", "-l", str(self.home)], check=True)

    def start_model(self) -> None:
        self._model = subprocess.Popen([sys.executable, "-m", "tests.soak.model", str(self._model_port)], cwd=ROOT)

    def stop_model(self) -> None:
        assert self._model
        self._model.kill()
        self._model.wait()

    def start_app(self) -> None:
        environment = os.environ | {
            "CHIE_HOME": str(self.home),
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        command = [str(BIN / "chie"), "serve", "--port", str(self.port), "--log-level", "error"]
        with (self.home.parent / "chie.log").open("ab") as log:
            self._app = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.home.parent)
        self._wait_until_open()

    def kill_app(self) -> None:
        assert self._app
        self._app.kill()
        self._app.wait()

    def kill_tools(self) -> None:
        assert self._app
        for child in psutil.Process(self._app.pid).children(recursive=True):
            if "tests.fakes.peer" in " ".join(child.cmdline()):
                child.send_signal(signal.SIGKILL)

    def fill_disk(self) -> None:
        with suppress(OSError), (self.home / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"\0" * 65_536)

    def free_disk(self) -> None:
        (self.home / "filler").unlink()

    def jump_clock(self, seconds: int) -> None:
        self._clock.write_text(f"{seconds:+d}\n")

    def memory_mb(self) -> float:
        """The resident memory of the app's process."""
        assert self._app
        used: float = psutil.Process(self._app.pid).memory_info().rss / 1e6
        return used

    def _wait_until_open(self) -> None:
        for _ in range(300):
            with suppress(httpx2.TransportError):
                httpx2.get(f"{self.address}/health", timeout=5)
                return
            time.sleep(0.1)
        raise RuntimeError("Chie did not start; see chie.log beside its home folder")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
