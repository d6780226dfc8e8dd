"""What a program and its children do, as the kernel sees it: strace's record of connections and of changed files.

Hooks in Python miss what a library does in C, in a thread of its own or in a child process; the kernel misses nothing.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import mkdtemp

SENDING = ("connect", "sendto", "sendmsg", "sendmmsg")
OPENING = ("open", "openat", "openat2", "creat")
CHANGING = (
    *("mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2", "link", "linkat", "symlink"),
    *("symlinkat", "unlink", "unlinkat", "rmdir", "truncate", "chmod", "fchmodat", "chown", "lchown", "fchownat"),
)
INVISIBLE = ("io_uring_setup",)  # what goes through such a ring is in no record
CALLS = (*SENDING, *OPENING, *CHANGING, *INVISIBLE)
# A `?` lets strace start on systems that do not have the call, such as `open` on arm64.
OPTIONS = ("-ff", "-y", "-qq", "-s", "64", "-I", "never", "--seccomp-bpf", "-e", "signal=none")
EXPRESSION = "trace=" + ",".join(f"?{name}" for name in CALLS)

DNS_PORTS = (53, 853, 5353, 5355)
LOCAL_FAMILIES = ("AF_NETLINK", "AF_UNSPEC")  # questions to the kernel
DEVICES = ("/dev/null", "/dev/tty")

LINE = re.compile(r"(?P<name>\w+)\((?P<arguments>.*?)(?:\) += (?P<result>\?|-?\d+|0x[0-9a-f]+).*| <unfinished \.\.\.>)")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>.*")
TEXT = r'"((?:[^"\\]|\\.)*)"'
PATH = re.compile(rf"(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>(?:\(deleted\))?, )?{TEXT}")
ERROR = re.compile(r"\) += -1 (E\w+) ")
WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
ADDRESS = re.compile(
    r'sa_family=AF_INET6?, sin6?_port=htons\((?P<port>\d+)\).*?(?:inet_addr\(|AF_INET6, )"(?P<host>[^"]+)"'
    rf"|sa_family=AF_UNIX, sun_path=(?P<path>@?{TEXT})"
    r"|sa_family=(?P<family>\w+)"
)


@dataclass(frozen=True)
class Connection:
    """To `host` and `port`, or to a socket at `path`; of another kind of network, `path` is its name."""

    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def is_dns(self) -> bool:
        return self.port in DNS_PORTS

    @property
    def is_local(self) -> bool:
        return bool(self.host) and ip_address(self.host).is_loopback and not self.is_dns


@dataclass(frozen=True)
class Record:
    """Everything that was sent somewhere, and every file that was changed or would have been."""

    connections: frozenset[Connection]
    changed: frozenset[Path]

    def outside(self) -> list[Connection]:
        return sorted((one for one in self.connections if not one.is_local), key=str)

    def changed_outside(self, *folders: Path) -> list[Path]:
        return sorted(path for path in self.changed if not any(path.is_relative_to(one) for one in folders))


class UnreadableTraceError(Exception):
    """A line of strace that this reader does not know: it must not be taken for silence."""


@cache
def reason_not_to_watch() -> str | None:
    """None if strace is installed and the system lets it watch."""
    if not (program := shutil.which("strace")):
        return "strace is not installed (Debian: apt-get install strace)"
    tried = subprocess.run(
        [program, *OPTIONS, "-e", EXPRESSION, "-o", "/dev/null", "true"], capture_output=True, text=True, check=False
    )
    return f"strace cannot watch here: {tried.stderr.strip()}" if tried.returncode else None


def watching(folder: Path, command: Sequence[str | Path]) -> list[str]:
    """The command, recorded in a new folder in this one. Its process is the child of strace's, in the same group."""
    own = Path(mkdtemp(dir=folder))  # strace names files by process ids, and those come again
    return [
        str(shutil.which("strace")),
        *OPTIONS,
        "-e",
        EXPRESSION,
        "-o",
        str(own / "calls"),
        "--",
        *map(str, command),
    ]


def recorded(folder: Path) -> Record:
    """What all commands in the folder did, once they have ended."""
    files = sorted(folder.glob("*/calls.*"))
    if not files:
        raise UnreadableTraceError(f"{folder} has no record")
    return parse(line for file in files for line in file.read_text("ascii").splitlines())


def parse(lines: Iterable[str]) -> Record:
    """A relative path of which the record does not say the folder stays relative, so it is in no folder."""
    connections, changed = set[Connection](), set[Path]()
    for line in lines:
        if RESUMED.fullmatch(line):
            continue  # its beginning has the arguments
        call = LINE.fullmatch(line)
        if not call or call["name"] not in CALLS:
            raise UnreadableTraceError(line)
        name, error = call["name"], ERROR.search(line)
        if name in SENDING:
            connections |= _connections(call["arguments"], error=error[1] if error else None)
        elif name in INVISIBLE:
            connections.add(Connection(path=name))
        else:
            changed |= set(_changed(name, call["arguments"], error=error[1] if error else None))
    return Record(frozenset(connections), frozenset(changed))


def _connections(arguments: str, *, error: str | None) -> set[Connection]:
    """Also attempts: without a network a library would not get further."""
    found = set[Connection]()
    for address in ADDRESS.finditer(arguments):
        if address["host"]:
            found.add(Connection(address["host"].removeprefix("::ffff:"), int(address["port"])))
        elif address["path"]:
            if error is None:  # an absent service has heard nothing
                found.add(Connection(path=_text(address["path"].strip('@"'))))
        elif address["family"] not in LOCAL_FAMILIES:
            found.add(Connection(path=address["family"]))
    return found


def _changed(name: str, arguments: str, *, error: str | None) -> Iterator[Path]:
    """Attempts count too, except to create what exists or to remove what does not."""
    if error == "EEXIST" or (error == "ENOENT" and name in ("unlink", "unlinkat", "rmdir")):
        return
    if name in OPENING and name != "creat" and not WRITING.search(PATH.sub("", arguments, count=1)):
        return
    paths = [Path(_text(folder or ""), _text(path)) for folder, path in PATH.findall(arguments)]
    if not paths:
        raise UnreadableTraceError(f"{name}({arguments})")
    if name.startswith("symlink"):
        paths = paths[-1:]  # the first is only a text
    yield from (path for path in paths if str(path) not in DEVICES)


def _text(escaped: str) -> str:
    return escaped.encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
