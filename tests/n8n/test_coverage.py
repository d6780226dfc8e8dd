"""BaseTool and RawTool are covered by their own tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.req("NW-12")
def test_tool_classes_are_covered_to_ninety_percent(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"),
            *("--cov=chie.n8n.tool", "--cov-branch", "--cov-fail-under=90", "tests/n8n/test_tool.py"),
        ],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "COVERAGE_FILE": str(tmp_path / "coverage")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "src/chie/n8n/tool.py" in done.stdout
