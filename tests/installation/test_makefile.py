"""`make install` and `make uninstall` in a clone."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def make(target: str, prefix: Path) -> str:
    """`install` runs `links` after it has installed what `make run` installs."""
    command = ["make", "--no-print-directory", "-C", str(ROOT), target, f"PREFIX={prefix}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_programs_of_the_clone_run_from_any_folder_and_are_removed_again(tmp_path: Path) -> None:
    prefix = tmp_path / "家 の"
    assert f"Add {prefix}/bin to your PATH." in make("links", prefix)
    env = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["knowledge-gateway", "--help"], env=env, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    (prefix / "bin" / "chie").unlink()
    (prefix / "bin" / "chie").symlink_to("/somewhere/else/chie")
    make("links", tmp_path / "other")
    make("uninstall", prefix)
    assert [file.name for file in (prefix / "bin").iterdir()] == ["chie"]  # it belongs to another installation


def test_install_makes_the_links() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ninstall: $(RUN)")[2].partition("\n\n")[0]
    assert recipe.endswith("$(MAKE) --no-print-directory links")
