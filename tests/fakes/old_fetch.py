"""A fetch server as it was before its tool had annotations: `python -m tests.fakes.old_fetch`."""

from fastmcp import FastMCP

server: FastMCP[None] = FastMCP("mcp-fetch")


@server.tool
def fetch(url: str) -> str:
    """Fetches a URL."""
    return f"Contents of {url}"


if __name__ == "__main__":
    server.run(transport="stdio", show_banner=False)
