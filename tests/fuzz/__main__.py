"""Coverage-guided fuzzing: `make fuzz ARGS="markdown_file -max_total_time=600"`; without a name, of every target."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

CORPUS = Path.home() / ".cache" / "chie" / "fuzz"


def _zip(kind: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        archive.writestr("知恵.md", "wisdom " * 9)
    return buffer.getvalue()


SEEDS = {
    "markdown_file": [
        "---\nid: k-1\ntitle: x\ntags: [a, b]\ncreated: 2024-05-01\nprivate: true\n---\n# 知恵\n".encode(),
        b"---\nid: k\ntitle: x\nuser_id: u\norigin: agent\ncreated_at: 2024-05-01\nupdated_at: 2024-5-1\n---\nx",
    ],
    "zip_file": [_zip(zipfile.ZIP_STORED), _zip(zipfile.ZIP_DEFLATED)],
    "sse_reader": [b"\x05\x09\x11\x20: x\n\nid: 1\nevent: message\r\ndata: {}\r\ndata: y\r\n\r\n"],
    "sse_encoder": ['["知恵", {"a": [1, null, "\\u2028"]}, "\\n\\ndata: x"]'.encode()],
    "n8n_patch": [
        b'[{"op": "setField", "node": "Start", "path": "parameters.a[0].b", "value": null}]',
        b'[{"op": "addNode", "node": {"name": "x", "type": "n8n-nodes-base.wait", "position": [1, 2]}}]',
        b'[{"op": "renameNode", "name": "Start", "newName": "y"}, {"op": "removeNode", "name": "2"}]',
        b'[{"op": "connect", "from": "Start", "to": "1"}, {"op": "updateNode", "name": "1", "changes": {}}]',
    ],
    "n8n_merge": [
        b'{"nodes": [{"name": "Start", "type": "x", "credentials": null}, {"id": "2"}], "settings": {"a": null}}'
    ],
}


def main() -> None:
    name, *options = sys.argv[1:] or [""]
    if not name or name.startswith("-"):
        sys.exit(_each(sys.argv[1:]))
    with atheris.instrument_imports(include=["chie", "yaml"]):
        from tests.fuzz.targets import TARGETS
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS.get(name, ())):
        (folder / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], f"-artifact_prefix={CORPUS}/", *options, str(folder)], TARGETS[name])
    atheris.Fuzz()


def _each(options: list[str]) -> int:
    from tests.fuzz.targets import TARGETS

    minute = options or ["-max_total_time=60"]
    runs = [subprocess.run([sys.executable, "-m", "tests.fuzz", name, *minute], check=False) for name in TARGETS]
    return max(abs(run.returncode) for run in runs)


if __name__ == "__main__":
    main()
