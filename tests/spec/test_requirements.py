"""Every requirement has a test, and every test that names a requirement names one that exists."""

import tomllib
from pathlib import Path

import pytest
from docs.requirement_table import REAL_ONLY, ROOT, SPEC, proofs, requirement_rows

FILE = tomllib.loads(SPEC.read_text(encoding="utf-8"))
REQUIRED = set(FILE["requirements"])
PENDING = set(FILE["pending"])
PROOFS = proofs()
PROVEN = {proof.requirement for proof in PROOFS}


def test_every_requirement_has_a_test() -> None:
    assert set() == REQUIRED - PENDING - PROVEN


def test_every_named_requirement_exists() -> None:
    assert set() == PROVEN - REQUIRED


def test_pending_requirements_exist_and_have_no_test() -> None:
    assert PENDING <= REQUIRED
    assert set() == PENDING & PROVEN


MARKED_FILE = "pytestmark = [pytest.mark.real]\n@pytest.mark.req('BK-4.1')\ndef test_a(): ...\n"
MARKED_TEST = "@pytest.mark.real\n@pytest.mark.req('BK-4.1')\nasync def test_a(): ...\n"
MARKED_CLASS = "@pytest.mark.real\nclass TestA:\n    @pytest.mark.req('BK-4.1')\n    def test_a(self): ...\n"
PLAIN = "@pytest.mark.req('BK-4.1')\ndef test_a(): ...\n"


@pytest.mark.parametrize(
    ("files", "real_only"),
    [
        ([MARKED_FILE], True),
        ([MARKED_TEST], True),
        ([MARKED_CLASS], True),
        ([PLAIN], False),
        ([MARKED_FILE, PLAIN], False),
        ([MARKED_TEST + PLAIN], False),
    ],
)
def test_requirement_that_only_real_tests_prove_says_so(
    files: list[str], real_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docs.requirement_table.ROOT", tmp_path)
    for number, text in enumerate(files):
        (tmp_path / f"test_{number}.py").write_text(text, encoding="utf-8")
    [tests] = [tests for requirement, _, tests in requirement_rows(proofs(tmp_path)) if requirement == "BK-4.1"]
    assert tests.startswith(REAL_ONLY) == real_only
    assert all(f"test_{number}.py" in tests for number in range(len(files)))


def test_the_page_shows_what_make_test_does_not_prove() -> None:
    page = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    by_make_test = {proof.requirement for proof in PROOFS if not proof.real}
    shown = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if REAL_ONLY in line}
    assert shown == PROVEN - by_make_test
