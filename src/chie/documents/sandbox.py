"""Takes from the process that reads a file what it does not need: memory, time, files to write, and the network."""

import ctypes
import platform
import struct
import sys
from contextlib import suppress

MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_SECONDS = 60

# The number of each system call that opens a connection or starts a program, by architecture.
_ARCHITECTURES = {
    "x86_64": (0xC000003E, {"socket": 41, "execve": 59, "ptrace": 101, "execveat": 322, "io_uring_setup": 425}),
    "aarch64": (0xC00000B7, {"socket": 198, "execve": 221, "ptrace": 117, "execveat": 281, "io_uring_setup": 425}),
}
_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | 13  # EACCES
_X32 = 0x40000000  # a second set of numbers on x86-64
_SET_SECCOMP, _FILTER, _SET_NO_NEW_PRIVILEGES = 22, 2, 38


def enter() -> None:
    """Best effort where the system has no such limits. Called before the parser is loaded."""
    _limit_resources()
    if sys.platform == "linux":
        _deny_connections()


def _limit_resources() -> None:
    with suppress(ImportError):
        import resource

        limits = {
            resource.RLIMIT_AS: MAX_MEMORY_BYTES,
            resource.RLIMIT_CPU: MAX_CPU_SECONDS,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_CORE: 0,
        }
        for kind, limit in limits.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (limit, limit))


def _deny_connections() -> None:
    """A seccomp filter, which needs no privileges and works in containers."""
    if platform.machine() not in _ARCHITECTURES:
        return
    program = _filter(*_ARCHITECTURES[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(program))
    header = ctypes.create_string_buffer(struct.pack("HL" if ctypes.sizeof(ctypes.c_void_p) == 8 else "HI", 0, 0))
    struct.pack_into("@HP", header, 0, len(program), ctypes.addressof(code))
    with suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        prctl(_SET_SECCOMP, _FILTER, ctypes.byref(header), 0, 0)


def _filter(architecture: int, calls: dict[str, int]) -> list[bytes]:
    """Calls of another architecture are denied too; everything else is allowed."""
    numbers = list(calls.values())
    to_deny = len(numbers) + 1  # from the check of the architecture to the last instruction
    return [
        _instruction(_LOAD, 4),
        _instruction(_JUMP_EQUAL, architecture, otherwise=to_deny + 2),
        _instruction(_LOAD, 0),
        _instruction(_JUMP_GREATER, _X32, then=to_deny),
        *(_instruction(_JUMP_EQUAL, number, then=to_deny - index - 1) for index, number in enumerate(numbers)),
        _instruction(_RETURN, _ALLOW),
        _instruction(_RETURN, _DENY),
    ]


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)
