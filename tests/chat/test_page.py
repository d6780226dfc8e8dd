"""The web page as the app serves it."""

import gzip
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chie.app import create_app
from chie.http.static_files import PAGES, STATIC

MAX_SCRIPT_BYTES = 170_000
SCRIPT = "console.log('知恵');" * 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = tmp_path / "static"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>Chie 知恵</title>", encoding="utf-8")
    (page / "assets" / "index-abc123.js").write_text(SCRIPT, encoding="utf-8")
    (page / "diagram.html").write_text("<!doctype html><script>draw()</script>", encoding="utf-8")
    (page / "icon.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (page / "link.txt").symlink_to(tmp_path / "secret.txt")
    return page


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app({}, page=folder), base_url="http://127.0.0.1:8080") as client:
        yield client


def test_scripts_that_the_page_loads_first_stay_small() -> None:
    """Those that the document itself names; the rest is fetched on demand. `bench/page.py` measures the same."""
    index = STATIC / "index.html"
    if not index.is_file():
        pytest.skip("the page is not built: run `make page`")
    named = re.findall(r'(?:src|href)="\./([^"]+\.js)"', index.read_text(encoding="utf-8"))
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in named}
    assert len(sizes) == 1, "what the first view needs is one file (`CHUNKS` in web/vite.config.ts)"
    assert sum(sizes.values()) <= MAX_SCRIPT_BYTES, sizes


def test_the_page_is_served_at_the_root_and_revalidated_each_time(client: TestClient) -> None:
    page = client.get("/")
    assert "Chie 知恵" in page.text
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    again = client.get("/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["review", "knowledge?tag=nginx&at=2026-03-01"])
def test_parts_of_the_page_are_found_without_the_hash(client: TestClient, path: str) -> None:
    found = client.get(f"/{path}", follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (307, f"./#/{path}")


def test_every_part_of_the_page_is_found_without_the_hash() -> None:
    registry = Path(__file__).parents[2] / "web" / "src" / "pages" / "registry.ts"
    assert {"chat", *re.findall(r'path: "([a-z]+)"', registry.read_text(encoding="utf-8"))} == set(PAGES)


def test_built_assets_are_kept_for_ever_and_travel_compressed(client: TestClient) -> None:
    with client.stream("GET", "/assets/index-abc123.js", headers={"accept-encoding": "gzip"}) as asset:
        body = b"".join(asset.iter_raw())
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert asset.headers["content-type"].startswith("text/javascript")
    assert gzip.decompress(body).decode() == SCRIPT
    assert len(body) < len(SCRIPT) / 4
    plain = client.get("/assets/index-abc123.js", headers={"accept-encoding": "identity"})
    assert plain.text == SCRIPT


@pytest.mark.parametrize("path", ["/", "/icon.svg", "/assets/index-abc123.js"])
def test_nothing_that_the_page_shows_can_become_code(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "require-trusted-types-for 'script'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_frame_of_diagrams_has_no_origin_and_reaches_nobody(client: TestClient) -> None:
    headers = client.get("/diagram.html").headers
    policy = headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "sandbox allow-scripts", "frame-ancestors 'self'"} <= set(policy)
    assert f"script-src 'sha256-{b64encode(sha256(b'draw()').digest()).decode()}'" in policy
    assert not any(rule.startswith(("connect-src", "img-src", "frame-src")) for rule in policy)
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/", "/link.txt"],
)
def test_no_path_leads_out_of_the_folder(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text
