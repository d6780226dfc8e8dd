"""The log files of MCP servers that always write one."""

from contextlib import suppress
from pathlib import Path

from chie.files import make_folder
from chie.logging import add_error_file
from chie.servers import SERVERS
from chie.settings import home_folder

LOGGING_SERVERS = ("n8n",)  # assistants hide stderr, and changes of live workflows must leave a trace


def server_log(server: str, folder: Path | None) -> Path:
    """In `logs` in `CHIE_HOME` by default, never in the folder where a host happens to start the server."""
    folder = folder or home_folder().expanduser() / "logs"
    with suppress(OSError):  # reported when the file is opened
        make_folder(folder)
    return folder / f"{server}.log"


def add_server_logs(folder: Path | None) -> None:
    """For `chie serve`: the errors of these servers go to their files too."""
    for server in LOGGING_SERVERS:
        add_error_file(SERVERS[server].rpartition(".")[0], server_log(server, folder))
