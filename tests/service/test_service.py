"""`chie service`, with programs that record calls in place of systemctl, launchctl and schtasks."""

import json
import os
import plistlib
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from tests.fakes import patient
from tests.service.programs import Process, Programs, Unit, path_of

from chie.cli import main
from chie.installation.environment import IMAGE_MARKER

ODD = 'ホーム 100% "x" $HOME \\n'  # everything that needs quoting somewhere
TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and a CHIE_HOME whose name needs quoting."""
    for name in ("XDG_CONFIG_HOME", "USERDOMAIN", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / ODD))
    return tmp_path / "user"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    found = Programs(folder)
    found.add("systemctl", "launchctl", "schtasks", "powershell")
    return found


def service(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["service", *arguments])


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(process: Process) -> Iterator["subprocess.Popen[str]"]:
    """Started as a manager starts it, with nothing of this process's environment but its interpreter's."""
    started = subprocess.Popen(
        process.command, env=process.environment, cwd=process.folder, stdout=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate()


def serves(process: Process, port: int) -> None:
    """It announces the URL, keeps its files in CHIE_HOME, and ends on SIGTERM."""
    with running(process) as started:
        assert started.stdout
        assert f"http://127.0.0.1:{port}" in started.stdout.readline()
        assert patient.get(f"http://127.0.0.1:{port}/health").json()["status"] == "healthy"
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) in (0, -signal.SIGTERM)
    assert (Path(process.folder) / "chie.db").is_file()


class TestSystemd:
    def test_unit_runs_chie_with_its_environment(self, user: Path, programs: Programs) -> None:
        port = free_port()
        done = service("install", "--port", str(port), "--env", f"OPENAI_API_KEY={ODD}")
        assert done.exit_code == 0, done.output
        file = user / ".config" / "systemd" / "user" / "chie.service"
        assert file.stat().st_mode & 0o777 == 0o600
        process = Unit(file.read_text("utf-8")).process()
        assert process.command[1:] == ["-m", "chie", "serve", "--host", "127.0.0.1", "--port", str(port)]
        assert process.environment["OPENAI_API_KEY"] == ODD
        assert process.folder == process.environment["CHIE_HOME"] == os.environ["CHIE_HOME"]
        serves(process, port)
        assert programs.calls()

    def test_unit_is_valid_for_systemd_itself(self, user: Path, programs: Programs, tmp_path: Path) -> None:
        analyze = path_of("systemd-analyze")
        if analyze is None:
            pytest.skip("systemd-analyze is not installed")
        assert service("install", "--env", f"OPENAI_API_KEY={ODD}", "--workers", "2").exit_code == 0
        file = user / ".config" / "systemd" / "user" / "chie.service"
        env = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(user), "PATH": os.defpath}
        verified = subprocess.run(
            [analyze, "verify", "--man=no", file], env=env, capture_output=True, text=True, check=False
        )
        assert (verified.returncode, verified.stderr) == (0, "")
        assert programs.calls()

    def test_install_is_idempotent_and_remove_undoes_it(self, user: Path, programs: Programs) -> None:
        expected = [
            "systemctl --user show-environment",
            "systemctl --user daemon-reload",
            "systemctl --user enable chie.service",
            "systemctl --user restart chie.service",
        ]
        done = service("install")
        assert "http://127.0.0.1:8080" in done.output
        assert "loginctl enable-linger" in done.output
        assert programs.calls() == expected
        file = user / ".config" / "systemd" / "user" / "chie.service"
        first = file.read_bytes()
        assert service("install").exit_code == 0
        assert (file.read_bytes(), programs.calls()) == (first, expected)
        removed = service("remove")
        assert (removed.exit_code, file.exists()) == (0, False)
        assert programs.calls()[1:3] == [
            "systemctl --user disable --now chie.service",
            "systemctl --user daemon-reload",
        ]
        assert "not installed" in service("remove").output
        assert programs.calls() == []

    def test_status_tells_whether_it_runs(self, programs: Programs) -> None:
        assert (service("status").exit_code, programs.calls()) == (1, [])
        service("install")
        programs.answer("show chie.service", output="ActiveState=active\nSubState=running\n")
        shown = service("status")
        assert (shown.exit_code, "State: active (running)" in shown.output) == (0, True)
        assert "journalctl --user --unit chie.service" in shown.output
        programs.answer("show chie.service", output="ActiveState=failed\nSubState=failed\n")
        shown = service("status")
        assert (shown.exit_code, "State: failed (failed)" in shown.output) == (1, True)

    def test_restarts_after_a_failure_and_at_login(self, programs: Programs) -> None:
        unit = Unit(service("install", "--print").stdout)
        assert (unit["Service"]["Restart"], unit["Service"]["RestartSec"]) == ("on-failure", "10")
        assert unit["Install"]["WantedBy"] == "default.target"
        assert programs.calls() == []

    def test_without_a_user_instance_nothing_is_written(self, user: Path, programs: Programs) -> None:
        programs.answer("show-environment", 1, error="Failed to connect to bus: No medium found\n")
        done = service("install")
        assert done.exit_code == 1
        assert "no instance for this user (Failed to connect to bus: No medium found)" in done.output
        assert "enable-linger" in done.output
        assert not (user / ".config").exists()

    def test_without_systemd_the_definition_can_still_be_printed(self, programs: Programs) -> None:
        (programs.folder / "systemctl").unlink()
        done = service("install")
        assert (done.exit_code, "`systemctl` was not found" in done.output) == (1, True)
        assert service("install", "--print").exit_code == 0

    def test_a_failing_start_is_reported_with_its_reason(self, programs: Programs) -> None:
        programs.answer("restart", 1, error="Job for chie.service failed.\n")
        done = service("install")
        assert (done.exit_code, "`systemctl` failed: Job for chie.service failed." in done.output) == (1, True)

    def test_a_file_of_somebody_else_is_kept(self, user: Path, programs: Programs) -> None:
        file = user / ".config" / "systemd" / "user" / "chie.service"
        file.parent.mkdir(parents=True)
        file.write_text("[Service]\nExecStart=/bin/true\n")
        for command in ("install", "remove"):
            done = service(command)
            assert (done.exit_code, "was not written by" in done.output) == (1, True)
        assert file.read_text() == "[Service]\nExecStart=/bin/true\n"
        assert not any("disable" in call or "restart" in call for call in programs.calls())


class TestLaunchd:
    @pytest.fixture(autouse=True)
    def mac(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chie.service.managers.system", lambda: "Darwin")

    def test_agent_runs_chie_with_its_environment(self, user: Path, programs: Programs) -> None:
        programs.answer(f"print gui/{os.getuid()}/chie.server", 113, error="Could not find service\n")
        port = free_port()
        done = service("install", "--port", str(port))
        assert done.exit_code == 0, done.output
        file = user / "Library" / "LaunchAgents" / "chie.server.plist"
        assert programs.calls() == [
            f"launchctl print gui/{os.getuid()}",
            f"launchctl bootout gui/{os.getuid()}/chie.server",
            f"launchctl print gui/{os.getuid()}/chie.server",
            f"launchctl enable gui/{os.getuid()}/chie.server",
            f"launchctl bootstrap gui/{os.getuid()} {file}",
        ]
        agent = plistlib.loads(file.read_bytes())
        assert (agent["Label"], agent["RunAtLoad"], agent["KeepAlive"]) == (
            "chie.server",
            True,
            {"SuccessfulExit": False},
        )
        assert agent["StandardErrorPath"] == f"{os.environ['CHIE_HOME']}/logs/service.log"
        assert Path(agent["StandardErrorPath"]).parent.is_dir()
        process = Process(agent["ProgramArguments"], agent["EnvironmentVariables"], agent["WorkingDirectory"])
        serves(process, port)

    def test_status_and_remove(self, user: Path, programs: Programs) -> None:
        unloaded = f"print gui/{os.getuid()}/chie.server"
        programs.answer(unloaded, 113)
        service("install")
        file = user / "Library" / "LaunchAgents" / "chie.server.plist"
        assert "State: not loaded" in service("status").output
        programs.answer(unloaded, output="gui/501/chie.server = {\n\tstate = running\n\tpid = 7\n}\n")
        shown = service("status")
        assert (shown.exit_code, "State: running" in shown.output) == (0, True)
        programs.answer(unloaded, 113)
        programs.calls()
        assert service("remove").exit_code == 0
        assert f"launchctl bootout gui/{os.getuid()}/chie.server" in programs.calls()
        assert not file.exists()


class TestTaskScheduler:
    @pytest.fixture(autouse=True)
    def windows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chie.service.managers.system", lambda: "Windows")
        monkeypatch.setenv("USERDOMAIN", "チーム")

    def test_task_runs_the_launcher_and_the_launcher_runs_chie(self, programs: Programs) -> None:
        port = free_port()
        done = service("install", "--port", str(port), "--env", f"N8N_URL={ODD}")
        assert done.exit_code == 0, done.output
        home = Path(os.environ["CHIE_HOME"])
        assert programs.calls() == [
            "schtasks /Query /FO CSV /NH",
            "schtasks /End /TN Chie",
            f"schtasks /Create /TN Chie /XML {home / 'service.xml'} /F",
            "schtasks /Run /TN Chie",
        ]
        content = (home / "service.xml").read_bytes()
        assert content.startswith((b"\xff\xfe", b"\xfe\xff"))
        task = ET.fromstring(content)  # noqa: S314 - our own file
        settings = {element.tag.removeprefix(TASK): element.text for element in task.iter()}
        assert task.tag == f"{TASK}Task"
        assert settings["UserId"].startswith("チーム\\")  # type: ignore[union-attr]
        assert (settings["Interval"], settings["ExecutionTimeLimit"]) == ("PT1M", "PT0S")
        assert settings["Command"] == str(Path(sys.executable).with_name("pythonw.exe"))
        [launcher] = [home / "service.pyw"]
        assert settings["Arguments"] == subprocess.list2cmdline([str(launcher)])
        assert (launcher.stat().st_mode & 0o777, settings["WorkingDirectory"]) == (0o600, str(home))
        serves(Process([sys.executable, str(launcher)], {}, str(home)), port)
        assert (home / "logs" / "service.log").is_file()
        assert re.search(r"'N8N_URL': .*ホーム", launcher.read_text("utf-8"))

    def test_order_of_the_settings_is_that_of_the_schema(self, programs: Programs) -> None:
        """The schema of Task Scheduler 1.2 is a sequence at the top, and `all` inside the settings."""
        printed = service("install", "--print").stdout.partition("?>")[2].partition("# Written by")
        assert "runpy.run_module" in printed[2]
        task = ET.fromstring(printed[0])  # noqa: S314
        order = [element.tag.removeprefix(TASK) for element in task]
        assert order == ["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"]
        assert programs.calls() == []

    def test_status_and_remove(self, programs: Programs) -> None:
        service("install")
        programs.answer("/Query /TN Chie", output='"\\Chie","N/A","実行中"\n')
        programs.answer("Get-ScheduledTask", output="Running\n")
        shown = service("status")
        assert (shown.exit_code, "State: 実行中" in shown.output) == (0, True)
        programs.answer("Get-ScheduledTask", output="Ready\n")
        assert service("status").exit_code == 1
        programs.calls()
        assert service("remove").exit_code == 0
        assert "schtasks /Delete /TN Chie /F" in programs.calls()
        assert sorted(file.name for file in Path(os.environ["CHIE_HOME"]).iterdir()) == ["logs"]


def test_variables_that_only_the_shell_has_are_named(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sesame-sesame")
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
    monkeypatch.setenv("N8N_API_KEY", "n8n-sesame")
    home = Path(os.environ["CHIE_HOME"])
    home.mkdir()
    (home / ".env").write_text("N8N_API_KEY=x\n")
    done = service("install", "--env", "N8N_URL")
    assert f"does not get OPENAI_API_KEY. Write them into {home / '.env'}, or add --env NAME." in done.stderr
    assert "sesame" not in done.output
    assert service("install", "--env", "N8N_MISSING").exit_code == 1
    assert programs.calls()


@pytest.mark.parametrize("place", ["archive-v0/abc", "image"])
def test_environments_that_cannot_keep_a_service_are_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / place).mkdir(parents=True)
    if place == "image":
        (tmp_path / place / IMAGE_MARKER).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / place))
    done = service("install", "--print")
    assert (done.exit_code, done.stdout) == (1, "")
    assert ("uv tool install chie" in done.output) is (place != "image")


def test_unknown_platform_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.service.managers.system", lambda: "Plan9")
    done = service("status")
    assert (done.exit_code, "(Plan9)" in done.output) == (1, True)


def finding() -> dict[str, str]:
    body = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
    return next(found for found in body["findings"] if found["check"] == "service")


def test_doctor_reports_a_service_that_does_not_run(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_HOME", str(programs.folder.parent / "notes"))
    (programs.folder / "chie").symlink_to(Path(sys.executable).with_name("chie"))
    assert (finding()["state"], finding()["code"]) == ("off", "doctor.service_not_installed")
    service("install")
    programs.answer("show chie.service", output="ActiveState=failed\nSubState=failed\n")
    assert (finding()["state"], finding()["fix"]) == ("problem", "chie service install")
    assert "failed (failed)" in finding()["message"]
    programs.answer("show chie.service", output="ActiveState=active\nSubState=running\n")
    assert finding()["state"] == "ok"
    programs.answer("show chie.service", 1, error="Failed to connect to bus\n")
    assert (finding()["state"], finding()["fix"]) == ("warning", "chie service status")
