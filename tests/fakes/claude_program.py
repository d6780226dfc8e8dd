"""A `claude` program with the `plugin` commands that `chie connect` uses; `tests/real` runs the real one.

The state is a JSON file beside it. As the real one does, it reads a plugin from its folder and keeps copies that it has
uninstalled.
"""

import sys
from pathlib import Path

SCRIPT = """#!{python}
import json, os, shutil, sys
from pathlib import Path
file = Path({state!r})
state = json.loads(file.read_text()) if file.exists() else {{"calls": [], "marketplaces": {{}}, "plugins": {{}}}}
words = sys.argv[2:]
state["calls"].append(words)
cache = Path(os.environ["HOME"]) / ".claude" / "plugins" / "cache" / "chie"
def plugin(folder):
    return json.loads((Path(folder) / ".claude-plugin" / "plugin.json").read_text())
code = 0
if words[:1] == ["list"]:
    print(json.dumps([{{"id": name, "version": found["version"], "enabled": True, "readFromFolder": found["folder"]}}
                      for name, found in state["plugins"].items()]))
elif words[:2] == ["marketplace", "add"]:
    state["marketplaces"]["chie"] = words[2]
elif words[:2] == ["marketplace", "remove"]:
    code = 0 if state["marketplaces"].pop("chie", None) else 1
elif words[:1] == ["install"]:
    folder = state["marketplaces"]["chie"]
    state["plugins"][words[1]] = {{"version": plugin(folder)["version"], "folder": folder}}
    shutil.copytree(folder, cache / "chie" / plugin(folder)["version"], dirs_exist_ok=True)
elif words[:1] == ["uninstall"]:
    code = 0 if state["plugins"].pop(words[1], None) else 1
if {broken!r}:
    print("✘ the disk is full", file=sys.stderr)
    sys.exit(1)
file.write_text(json.dumps(state))
sys.exit(code)
"""


def write_claude(folder: Path, *, broken: bool = False) -> Path:
    """Writes the program into the folder, which belongs on the PATH; returns the file with its state."""
    folder.mkdir(parents=True, exist_ok=True)
    program, state = folder / "claude", folder / "state.json"
    program.write_text(SCRIPT.format(python=sys.executable, state=str(state), broken=broken), encoding="utf-8")
    program.chmod(0o755)
    return state
