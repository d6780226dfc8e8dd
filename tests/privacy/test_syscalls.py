"""The watch itself: what a program must not do is seen, however it does it, and an unknown record is no silence."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.privacy.environment import bare_environment
from tests.privacy.syscalls import (
    Connection,
    Record,
    UnreadableTraceError,
    parse,
    reason_not_to_watch,
    recorded,
    watching,
)

HOME = Path("/home/aki")
SOCKET = "3<socket:[81]>"


def outside(line: str) -> list[Connection]:
    return parse([line]).outside()


def changed(line: str) -> list[str]:
    return [str(path) for path in parse([line]).changed_outside(HOME / "chie")]


def inet(host: str, port: int = 443) -> str:
    return f'{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr("{host}")}}'


def inet6(host: str, port: int = 443) -> str:
    return (
        f'{{sa_family=AF_INET6, sin6_port=htons({port}), inet_pton(AF_INET6, "{host}", &sin6_addr), sin6_scope_id=0}}'
    )


def unix(path: str) -> str:
    return f"{{sa_family=AF_UNIX, sun_path={path}}}"


RESOLVED = "/run/systemd/resolve/io.systemd.Resolve"
QUOTED, ABSTRACT, NSCD = f'"{RESOLVED}"', '@"bus"', '"/var/run/nscd/socket"'
UNREACHABLE = "-1 ENETUNREACH (Network is unreachable)"


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (f"connect({SOCKET}, {inet('203.0.113.9')}, 16) = 0", Connection("203.0.113.9", 443)),
        (f"connect({SOCKET}, {inet('203.0.113.9')}, 16) = {UNREACHABLE}", Connection("203.0.113.9", 443)),
        (f"connect({SOCKET}, {inet6('2001:db8::1')}, 28 <unfinished ...>", Connection("2001:db8::1", 443)),
        (f"connect({SOCKET}, {inet('127.0.0.53', 53)}, 16) = 0", Connection("127.0.0.53", 53)),
        (f'sendto({SOCKET}, "\\253"..., 29, 0, {inet("203.0.113.9")}, 16) = 29', Connection("203.0.113.9", 443)),
        (
            f"sendmmsg({SOCKET}, [{{msg_hdr={{msg_name={inet('203.0.113.9', 53)}}}, msg_len=9}}], 1, 0) = 1",
            Connection("203.0.113.9", 53),
        ),
        (f"connect({SOCKET}, {unix(QUOTED)}, 42) = 0", Connection(path=RESOLVED)),
        (f"connect({SOCKET}, {unix(ABSTRACT)}, 42) = 0", Connection(path="bus")),
        (f"connect({SOCKET}, {{sa_family=AF_VSOCK, svm_cid=2, svm_port=0x50}}, 16) = 0", Connection(path="AF_VSOCK")),
        ("io_uring_setup(8, {flags=0}) = 5<anon_inode:[io_uring]>", Connection(path="io_uring_setup")),
    ],
)
def test_what_leaves_is_found(call: str, found: Connection) -> None:
    assert outside(call) == [found]


@pytest.mark.parametrize(
    "call",
    [
        f"connect({SOCKET}, {inet('127.0.0.1')}, 16) = 0",
        f"connect({SOCKET}, {inet6('::1')}, 28) = 0",
        f"connect({SOCKET}, {inet6('::ffff:127.0.0.1')}, 28) = 0",
        f"connect({SOCKET}, {unix(NSCD)}, 110) = -1 ENOENT (No such file or directory)",
        f"sendto({SOCKET}, [{{nlmsg_len=20}}], 20, 0, {{sa_family=AF_NETLINK, nl_pid=0}}, 12) = 20",
        f'sendto({SOCKET}, "hello", 5, 0, NULL, 0) = 5',
        f"connect({SOCKET}, {{sa_family=AF_UNSPEC}}, 16) = 0",
    ],
)
def test_this_machine_is_not_outside(call: str) -> None:
    assert outside(call) == []


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (
            'openat(AT_FDCWD</work>, "/home/aki/.cache/id", O_WRONLY|O_CREAT, 0644) = 3</home/aki/.cache/id>',
            "/home/aki/.cache/id",
        ),
        ('openat(AT_FDCWD</home/aki>, "notes", O_RDWR|O_CLOEXEC) = 3</home/aki/notes>', "/home/aki/notes"),
        ('openat(7</home/aki>, "\\346\\227\\245", O_RDONLY|O_CREAT <unfinished ...>', "/home/aki/日"),
        ('openat(AT_FDCWD</w>, "/home/aki/x", O_WRONLY|O_CREAT) = -1 EACCES (Permission denied)', "/home/aki/x"),
        ('openat2(AT_FDCWD</home/aki>, "x", {flags=O_WRONLY, resolve=0}, 24) = 3</home/aki/x>', "/home/aki/x"),
        ('openat(AT_FDCWD</>, "/home/aki", O_RDWR|O_TMPFILE, 0600) = 3</home/aki/#12 (deleted)>', "/home/aki"),
        ('creat("/home/aki/x", 0600) = 3</home/aki/x>', "/home/aki/x"),
        ('mkdir("/home/aki/.cache", 0700) = 0', "/home/aki/.cache"),
        ('mkdir("cache", 0700) = 0', "cache"),
        ('rename("/home/aki/chie/a", "/home/aki/a") = 0', "/home/aki/a"),
        ('linkat(AT_FDCWD</>, "/home/aki/chie/a", AT_FDCWD</home/aki>, "a", 0) = 0', "/home/aki/a"),
        ('symlink("/home/aki/chie", "/home/aki/link") = 0', "/home/aki/link"),
        ('unlink("/home/aki/.netrc") = 0', "/home/aki/.netrc"),
        ('truncate("/home/aki/x", 0) = 0', "/home/aki/x"),
    ],
)
def test_what_is_changed_is_found(call: str, found: str) -> None:
    assert changed(call) == [found]


@pytest.mark.parametrize(
    "call",
    [
        'openat(AT_FDCWD</work>, "/home/aki/chie/chie.db", O_RDWR|O_CREAT, 0600) = 3</home/aki/chie/chie.db>',
        'openat(AT_FDCWD</work>, "/home/aki/O_CREAT", O_RDONLY|O_CLOEXEC) = 3</home/aki/O_CREAT>',
        'openat(AT_FDCWD</work>, "/dev/null", O_RDWR) = 3</dev/null>',
        'mkdir("/home/aki", 0700) = -1 EEXIST (File exists)',
        'unlink("/home/aki/x") = -1 ENOENT (No such file or directory)',
        "<... openat resumed>) = 3</home/aki/x>",
    ],
)
def test_what_is_read_is_not_changed(call: str) -> None:
    assert changed(call) == []


@pytest.mark.parametrize(
    "line",
    [
        "",
        "strace: Process 12 attached",
        'unknown("/home/aki") = 0',
        "mkdir(0x7f0000, 0700) = 0",
        "12 connect(3, {sa_family=AF_INET",
    ],
)
def test_unknown_line_is_no_silence(line: str) -> None:
    with pytest.raises(UnreadableTraceError):
        parse([line])


def test_no_record_is_no_silence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTraceError):
        recorded(tmp_path)


LOOK_UP = "import socket, contextlib\nwith contextlib.suppress(OSError): socket.getaddrinfo('telemetry.example', 443)"
SEND = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('198.51.100.1', 9))"


@pytest.mark.skipif(reason_not_to_watch() is not None, reason=str(reason_not_to_watch()))
class TestWatch:
    def watched(self, folder: Path, *command: str) -> Record:
        (folder / "record").mkdir()
        subprocess.run(
            watching(folder / "record", command), env=bare_environment(folder), cwd=folder, check=True, timeout=60
        )
        return recorded(folder / "record")

    def test_silent_program(self, tmp_path: Path) -> None:
        assert self.watched(tmp_path, sys.executable, "-c", "open('/etc/passwd').read()") == Record(
            frozenset(), frozenset()
        )

    @pytest.mark.parametrize(
        "code",
        [
            LOOK_UP,
            f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {LOOK_UP!r}])",
            f"import threading\nt = threading.Thread(target=lambda: exec({LOOK_UP!r}))\nt.start()\nt.join()",
            f"import os\nif os.fork() == 0:\n    os.setsid()\n    exec({LOOK_UP!r})",
        ],
        ids=["itself", "child", "thread", "detached"],
    )
    def test_look_up_is_seen(self, tmp_path: Path, code: str) -> None:
        assert any(one.is_dns for one in self.watched(tmp_path, sys.executable, "-c", code).outside())

    def test_datagram_is_seen(self, tmp_path: Path) -> None:
        code = f"import socket, contextlib\nwith contextlib.suppress(OSError): {SEND}"
        assert self.watched(tmp_path, sys.executable, "-c", code).outside() == [Connection("198.51.100.1", 9)]

    def test_files_of_a_child_are_seen(self, tmp_path: Path) -> None:
        script = (
            'echo x > "$TMPDIR/a"; mkdir -p "$HOME/.cache/日本/b"; mv "$TMPDIR/a" "$HOME/a"; ln -s /etc "$HOME/etc"'
        )
        found = self.watched(tmp_path, "sh", "-c", script).changed_outside(tmp_path / "temporary")
        assert {"a", ".cache", "etc"} <= {path.name for path in found}

    def test_write_without_python_is_seen(self, tmp_path: Path) -> None:
        code = "import ctypes, os\nctypes.CDLL(None).creat((os.environ['HOME'] + '/c').encode(), 0o600)"
        [found] = self.watched(tmp_path, sys.executable, "-c", code).changed_outside(tmp_path / "temporary")
        assert found == tmp_path / "user" / "c"
