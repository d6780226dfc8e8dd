"""Runs the programs of service managers."""

import shutil
import subprocess

from chie.errors import ConfigurationError, ServiceError

TIMEOUT_SECONDS = 60


def run(*command: str) -> str:
    """The output of a program that must succeed."""
    done = attempt(*command)
    if done.returncode != 0:
        raise ServiceError("service.program_failed", program=command[0], reason=reason(done))
    return done.stdout


def attempt(*command: str) -> "subprocess.CompletedProcess[str]":
    """For programs whose failure means something, such as a service that is not loaded."""
    program = shutil.which(command[0])
    if program is None:
        raise ConfigurationError("service.program_not_found", program=command[0])
    try:
        return subprocess.run(  # noqa: S603 - fixed programs
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServiceError("service.program_timed_out", program=command[0], seconds=TIMEOUT_SECONDS) from error


def reason(done: "subprocess.CompletedProcess[str]") -> str:
    """The last line that it wrote."""
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1].strip() if lines else f"exit code {done.returncode}"
