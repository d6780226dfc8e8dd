"""How this Chie was installed: the kind of its environment, and the origin of its package."""

import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from chie import __version__

IMAGE_MARKER = "container-image"  # the Dockerfile creates it in the environment


class Kind(Enum):
    CLONE = "an editable install of a clone, as `make run` makes it"
    CONTAINER = "the container image"
    PIPX = "pipx"
    PIP = "a wheel or an sdist in an environment"
    UV_TOOL = "uv tool install"
    UVX = "uvx, whose environments live in uv's cache"


@dataclass(frozen=True)
class Origin:
    """What Chie was installed from, as pip and uv record it; all empty for a release from an index."""

    url: str = ""
    editable: bool = False
    vcs: str = ""
    commit: str = ""

    @property
    def path(self) -> Path | None:
        """The folder or file, if it was one of this machine."""
        parts = urlsplit(self.url)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    def requirement(self, extras: set[str]) -> str:
        """The requirement that installs the same package again, with these extras."""
        name = f"chie[{','.join(sorted(extras))}]" if extras else "chie"
        if not self.url:
            return f"{name}=={__version__}"
        url = f"{self.vcs}+{self.url}@{self.commit}" if self.vcs else self.url
        if extras:
            return f"{name} @ {url}"
        return url if self.vcs or self.path is None else str(self.path)


def find_kind() -> Kind:
    """Found by what each installer leaves in its environments."""
    prefix = Path(sys.prefix)
    markers = {IMAGE_MARKER: Kind.CONTAINER, "uv-receipt.toml": Kind.UV_TOOL, "pipx_metadata.json": Kind.PIPX}
    for file, kind in markers.items():
        if (prefix / file).is_file():
            return kind
    if _is_in_cache(prefix):
        return Kind.UVX
    return Kind.CLONE if find_origin().editable else Kind.PIP


def find_origin() -> Origin:
    try:
        text = distribution("chie").read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    about = json.loads(text) if text else {}
    version = about.get("vcs_info", {})
    editable = bool(about.get("dir_info", {}).get("editable"))
    return Origin(about.get("url", ""), editable, version.get("vcs", ""), version.get("commit_id", ""))


def installed_extras() -> set[str]:
    """The extras of Chie whose requirements are all installed."""
    needs: dict[str, list[str]] = {}
    for line in _requirements():
        if (extra := re.search(r"""extra == ['"]([\w-]+)['"]""", line)) and (name := re.match(r"[\w.-]+", line)):
            needs.setdefault(extra[1], []).append(name[0])
    return {extra for extra, names in needs.items() if "chie" not in names and all(map(_is_installed, names))}


def uv_receipt() -> list[dict[str, Any]]:
    """The requirements of a `uv tool install`: Chie itself, and those given by `--with`."""
    try:
        content = tomllib.loads((Path(sys.prefix) / "uv-receipt.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return []
    found: list[dict[str, Any]] = content.get("tool", {}).get("requirements", [])
    return found


def _is_in_cache(prefix: Path) -> bool:
    cache = os.environ.get("UV_CACHE_DIR")
    if cache and prefix.is_relative_to(cache):
        return True
    return any(part.startswith(("archive-v", "environments-v")) for part in prefix.parts)


def _requirements() -> list[str]:
    try:
        return distribution("chie").requires or []
    except PackageNotFoundError:
        return []


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
