"""Files that people attach: documents as text, images by their headers, and files that mean harm."""

import gc
import io
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.office_files import archive, docx, odt, pdf, pptx, xlsx
from tests.fakes.pictures import png

from chie.documents import reader as reading
from chie.documents.file_kinds import IMAGES
from chie.documents.images import image_size
from chie.documents.pdf_library import TEMPORARY
from chie.documents.plain_text import decode
from chie.documents.reader import DocumentReader, ReadFile
from chie.errors import ConfigurationError, ValidationError

pytestmark = pytest.mark.req("AG-4")

# Stands in for the process that reads a document: its text is the environment.
ENVIRONMENT = """
import json, os, sys
sys.stdin.buffer.read()
print(json.dumps({"media_type": "application/pdf", "text": str(dict(os.environ)), "length": 1}))
"""
OLE = bytes.fromhex("D0CF11E0A1B11AE1")
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc0\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\x00\xff\xd9"
GIF = b"GIF89a" + struct.pack("<HH", 3, 2) + b"\x00\x00\x00\x3b"


def webp(chunk: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


WEBP_EXTENDED = webp(b"VP8X" + b"\x0a\0\0\0" + b"\0" * 4 + b"\x02\0\0" + b"\x01\0\0")
WEBP_LOSSLESS = webp(b"VP8L" + b"\x05\0\0\0" + b"\x2f" + struct.pack("<I", 2 | 1 << 14))
WEBP_LOSSY = webp(b"VP8 " + b"\x0a\0\0\0" + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 3, 2))


async def read(name: str, data: bytes) -> ReadFile:
    return await DocumentReader().read(name, data)


def folders(parent: Path) -> list[Path]:
    return list(parent.iterdir())


async def refusal(name: str, data: bytes) -> str:
    with pytest.raises(ValidationError) as caught:
        await read(name, data)
    assert caught.value.reason.params["name"] == name
    return caught.value.code.removeprefix("attachments.")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.docx", docx("売上は120億円", "Second"), "売上は120億円\n\nSecond"),
        ("a.xlsx", xlsx([["月", "額"], ["4月", "120"]]), "## 売上\n\n| 月 | 額 |\n| --- | --- |\n| 4月 | 120 |"),
        ("a.pptx", pptx("表紙", "Next"), "## 表紙\n\n## Next"),
        ("a.odt", odt("文書です"), "文書です"),
        ("a.pdf", pdf("請求書 2026"), "請求書 2026"),
        ("long.pdf", pdf("一", "two"), "[Page 1]\n\n一\n\n[Page 2]\n\ntwo"),
        ("a.rtf", rb"{\rtf1\ansi Hello \u26085?\u26412?}", "Hello 日本"),
        ("a.html", "<body><nav>menu</nav><main><h1>題</h1><script>x()</script></main></body>".encode(), "# 題"),
        ("sjis.html", "<html><p>日本語</p></html>".encode("cp932"), "日本語"),
    ],
)
async def test_documents_become_text(name: str, data: bytes, text: str) -> None:
    found = await read(name, data)
    assert (found.kind, found.text, found.data) == ("document", text, data)


@pytest.mark.parametrize("pages", [1, 3])
async def test_first_and_last_lines_of_a_page_are_text_too(pages: int) -> None:
    """They look like headers and footers, but a letter begins with what it is about."""
    lines = ["契約番号 A-4711", *(f"第{number:02}項の本文です" for number in range(22)), "以上"]
    text = (await read("a.pdf", pdf(*["\n".join(lines)] * pages))).text or ""
    assert [text.count(line) for line in lines] == [pages] * len(lines)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "iso2022_jp"])
async def test_plain_text_in_any_encoding(encoding: str) -> None:
    found = await read("メモ.csv", "月,額\r\n四月,ひらがなとカタカナ\r\n".encode(encoding))
    assert (found.media_type, found.text) == ("text/plain", "月,額\n四月,ひらがなとカタカナ\n")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(3, 2), "image/png"),
        (JPEG, "image/jpeg"),
        (GIF, "image/gif"),
        (WEBP_EXTENDED, "image/webp"),
        (WEBP_LOSSLESS, "image/webp"),
        (WEBP_LOSSY, "image/webp"),
    ],
)
async def test_images_are_measured(data: bytes, media_type: str) -> None:
    found = await read("whatever.txt", data)
    assert (found.kind, found.media_type, found.width, found.height) == ("image", media_type, 3, 2)


@given(st.sampled_from(sorted(IMAGES)), st.sampled_from([png(3, 2), JPEG, GIF, WEBP_LOSSY, b""]), st.binary())
def test_any_bytes_are_an_image_or_damaged(media_type: str, head: bytes, rest: bytes) -> None:
    for cut in range(0, len(head) + 1, 3):
        size = image_size(media_type, head[:cut] + rest)
        assert size is None or min(size) > 0


@given(st.binary())
def test_any_bytes_are_text_or_not(data: bytes) -> None:
    text = decode(data)
    assert text is None or "\x00" not in text


@pytest.mark.parametrize("data", [png()[:40], JPEG[:-2], JPEG[:10] + b"\xff\xd9", GIF[:8], WEBP_LOSSY[:-4]])
async def test_half_an_image_is_damaged(data: bytes) -> None:
    assert await refusal("a.png", data) == "image_damaged"


@pytest.mark.parametrize("data", [b"\x00\x00\x00\x18ftypheic", b"BM\x00\x00", b"II*\x00\x08", b"\x00\x00\x00 ftypavif"])
async def test_images_that_models_do_not_take(data: bytes) -> None:
    assert await refusal("a.heic", data) == "image_type_unsupported"


async def test_large_images_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = png()[:16] + struct.pack(">II", 9_000, 2) + png()[24:]
    assert await refusal("wide.png", wide) == "image_too_large"
    assert await refusal("fat.png", png() + b"\0" * 4_000_000) in ("image_too_large", "image_damaged")
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 10)
    assert await refusal("a.txt", b"x" * 11) == "too_large"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n ", "empty"),
        ("a.pdf", pdf(""), "no_text"),
        ("a.docx", docx(""), "no_text"),
        ("a.pdf", pdf("x", encrypted=True), "encrypted"),
        ("a.docx", OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("a.odt", archive({"META-INF/manifest.xml": "<x><manifest:encryption-data/></x>"}), "encrypted"),
        ("a.pdf", b"%PDF-1.7\nnonsense", "damaged"),
        ("a.docx", docx("x" * 100)[:200], "damaged"),
        ("a.doc", OLE + b"\0" * 600, "damaged"),
        ("a.zip", archive({"a.txt": "x"}), "type_unsupported"),
        ("a.bin", bytes(range(256)), "type_unsupported"),
        ("a.msi", OLE + b"\0" * 600, "type_unsupported"),
    ],
)
async def test_unreadable_files_have_a_reason(name: str, data: bytes, reason: str) -> None:
    assert await refusal(name, data) == reason


async def test_long_text_is_refused() -> None:
    assert await refusal("a.txt", b"x" * 2_000_001) == "text_too_long"
    assert await refusal("a.docx", docx("x" * 2_000_001)) == "text_too_long"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\aki\\メモ.txt", "メモ.txt"),
        ("a\x00\n\u202eb.txt", "ab.txt"),
        ("", "file"),
        ("x" * 300 + ".txt", "x" * 195 + "….txt"),
    ],
)
async def test_names_are_plain(given: str, kept: str) -> None:
    assert (await read(given, b"words")).name == kept


class TestHarm:
    async def test_external_entities_are_not_read(self) -> None:
        prolog = "<!DOCTYPE w [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
        found = await read("a.docx", docx("before &x; after", prolog=prolog))
        assert "root:" not in (found.text or "")

    async def test_entities_do_not_multiply(self) -> None:
        entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 30}'>" for n in range(1, 9))
        prolog = f"<!DOCTYPE w [<!ENTITY e0 'lollollol'>{entities}]>"
        found = await read("a.docx", docx("before &e8; after", prolog=prolog))
        assert len(found.text or "") < 1_000

    async def test_zip_that_unpacks_to_much(self) -> None:
        bomb = archive({"[Content_Types].xml": "<x/>", "word/document.xml": b"\0" * (257 * 1024 * 1024)})
        assert len(bomb) < 1_000_000
        assert await refusal("a.docx", bomb) == "too_complex"

    async def test_zip_that_lies_about_its_size(self) -> None:
        honest = archive({"[Content_Types].xml": "<x/>", "word/document.xml": b"<" * (64 * 1024 * 1024)})
        with zipfile.ZipFile(io.BytesIO(honest)) as found:
            size = struct.pack("<I", found.getinfo("word/document.xml").file_size)
        assert await refusal("a.docx", honest.replace(size, struct.pack("<I", 10))) in ("damaged", "too_complex")

    async def test_zip_with_many_entries(self) -> None:
        assert await refusal("a.docx", archive({f"word/{n}": "" for n in range(10_001)})) == "too_complex"

    async def test_slow_file_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "TIMEOUT_SECONDS", 0.0)
        assert await refusal("a.pdf", pdf("x")) == "too_complex"

    async def test_process_has_no_secrets(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "environment.py").write_text(ENVIRONMENT)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(reading, "MODULE", "environment")
        monkeypatch.setattr(reading, "KEPT_VARIABLES", (*reading.KEPT_VARIABLES, "PYTHONPATH"))
        text = (await read("a.pdf", pdf("x"))).text or ""
        assert "PYTHONPATH" in text
        assert "sk-secret" not in text

    @pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
    @pytest.mark.parametrize(
        ("attempt", "error"),
        [
            ("import socket; socket.socket()", "PermissionError"),
            ("import socket; socket.create_connection(('127.0.0.1', 9))", "PermissionError"),
            ("import os; os.execv('/bin/true', ['true'])", "PermissionError"),
            ("open('/tmp/chie-written', 'w').write('x' * 100_000)", "File too large"),
            ("bytearray(2 << 30)", "MemoryError"),
        ],
    )
    def test_process_can_do_nothing_else(self, attempt: str, error: str) -> None:
        code = f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nfrom chie.documents.sandbox import enter\nenter()\n{attempt}"  # noqa: E501
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert found.returncode != 0
        assert error in found.stderr


class TestPdfLibrary:
    """Kreuzberg unpacks it into the temporary folder, which is empty on a new machine."""

    @pytest.fixture
    def temporary(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "temporary"
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        for name in TEMPORARY:
            monkeypatch.setenv(name, str(folder))
        return folder

    async def test_pdf_is_read_on_a_new_machine(self, temporary: Path) -> None:
        reader = DocumentReader()
        for _ in range(2):
            assert (await reader.read("a.pdf", pdf("請求書"))).text == "請求書"
        [own] = folders(temporary)
        assert own.stat().st_mode & 0o077 == 0, "nobody else can put a library there"
        shutil.rmtree(own)
        assert (await reader.read("a.pdf", pdf("請求書"))).text == "請求書", "after the folder was cleaned"
        reader.close()
        assert folders(temporary) == []
        assert (await reader.read("a.pdf", pdf("請求書"))).text == "請求書", "after it was closed"
        del reader
        gc.collect()
        assert folders(temporary) == []

    async def test_folder_that_cannot_be_written_is_named(self, temporary: Path) -> None:
        shutil.rmtree(temporary)
        with pytest.raises(ConfigurationError) as caught:
            await read("a.pdf", pdf("x"))
        assert caught.value.code == "attachments.pdf_reader_unwritable"
        assert caught.value.reason.params["folder"] == str(temporary)
        assert (await read("a.docx", docx("x"))).text == "x", "other documents need no such library"


async def test_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "find_spec", lambda _: None)
    assert (await read("a.txt", b"plain text needs nothing")).text
    with pytest.raises(ConfigurationError) as caught:
        await read("a.pdf", pdf("x"))
    assert caught.value.code == "attachments.reader_missing"
    assert "documents" in caught.value.message
