"""Checks the URLs that a model passes to the operator's servers, because a tool that reads the web could open any."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from chie.chat.toolbox.tool import Outcome, Tool, Toolset
from chie.chat.toolbox.wrappers import Wrapper
from chie.errors import ChieError
from chie.web_fetch.url_policy import UrlPolicy

_URL_NAME = re.compile(r"(?:.*[_-])?(?i:urls?|uris?|href|links?)|.*[a-z](?:Url|URL|Uri|URI|Link)s?")
_URL_FORMATS = {"uri", "url", "iri"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST_FIRST = re.compile(r"(?:[\w-]+\.)+\w+\.?(?=[:/?#]|$)|localhost(?=[:/?#]|$)|\[[0-9a-fA-F:.]+\]")


class CheckedUrls(Wrapper):
    """Arguments of the tools of these `servers` that are URLs by their name or format must pass the policy.

    Redirects, and names that resolve to another address a moment later, are out of our sight: the server follows them.
    """

    def __init__(self, inner: Toolset, policy: UrlPolicy, servers: Collection[str]) -> None:
        super().__init__(inner)
        self._policy = policy
        self._servers = servers

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        if tool.server in self._servers:
            try:
                for url in find_urls(tool, arguments):
                    await self._policy.check(url)
            except ChieError as error:
                return Outcome.failed(error.reason)
        return await super().call(tool, arguments)


def find_urls(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    properties = tool.schema.get("properties")
    declared = properties if isinstance(properties, Mapping) else {}
    for name, value in arguments.items():
        about = declared.get(name)
        is_url = isinstance(about, Mapping) and about.get("format") in _URL_FORMATS
        yield from _urls(value, name, is_url=is_url)


def _urls(value: object, name: str, *, is_url: bool = False) -> Iterator[str]:
    """Lists and objects inside arguments are searched too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _urls(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _urls(item, name, is_url=is_url)
    elif isinstance(value, str) and (is_url or _URL_NAME.fullmatch(name)) and (url := _web_url(value.strip(), name)):
        yield url


def _web_url(value: str, name: str) -> str | None:
    """A host alone counts as http. None for a relative path, and for other kinds of URI such as `note://1`, unless the
    argument is named `url`."""
    if _HOST_FIRST.match(value):
        return f"http://{value}"
    if not _SCHEME.match(value):
        return None
    is_web = value.lower().startswith(("http:", "https:"))
    return value if is_web or "url" in name.lower() else None
