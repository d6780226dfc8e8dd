"""The URL of the running Chie and the token for it: from the environment, else from what `chie connect` has stored."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False  # importing `typing` would take longer than the rest of this module
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_URL = "http://127.0.0.1:8080"
FILE = "login.json"
URL, TOKEN, HOME = "CHIE_URL", "CHIE_TOKEN", "CHIE_HOME"


def find_login(env: Mapping[str, str]) -> tuple[str, str]:
    """The URL without a final slash, and the token or an empty string.

    A stored token is only sent to the URL that it was stored for.
    """
    stored = _stored(env)
    stored_url = str(stored.get("url") or "").rstrip("/")
    url = env.get(URL, "").strip().rstrip("/") or stored_url or DEFAULT_URL
    token = env.get(TOKEN, "").strip()
    if not token and url == stored_url:
        named = stored.get("token_env")
        token = (env.get(named, "").strip() if isinstance(named, str) else "") or str(stored.get("token") or "")
    return url, token


def _stored(env: Mapping[str, str]) -> dict[str, object]:
    try:
        with open(os.path.join(home_folder(env), FILE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def home_folder(env: Mapping[str, str], system: str = sys.platform) -> str:
    """`CHIE_HOME`, else the folder that `platformdirs` gives to the other commands."""
    value = env.get(HOME, "").strip()
    if value and "${" not in value:
        return os.path.expanduser(value)
    home = os.path.expanduser("~")
    if system == "darwin":
        return os.path.join(home, "Library", "Application Support", "chie")
    if system == "win32":
        return os.path.join(env.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "chie")
    data = env.get("XDG_DATA_HOME", "").strip()
    return os.path.join(data or os.path.join(home, ".local", "share"), "chie")
