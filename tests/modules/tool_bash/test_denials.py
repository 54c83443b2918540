import time

import pytest

from amplifier_tui.modules.tool_bash.settings import CATASTROPHIC, refusal
from tests.modules.tool_bash.support import Shell, kind

REFUSED = [
    "rm -rf /",
    "rm -rf /*",
    "rm -fr ~",
    "rm -r -f ~/",
    "sudo rm -rf --no-preserve-root /",
    "rm --recursive --force '/'",
    'rm -rf "$HOME"',
    "rm -rf ${HOME}",
    "echo hi && rm -Rf /",
    "cd x; rm -rf / ; echo",
    "true\nrm -rf /",
    "$(rm -rf /)",
    "rm -r \\\n -f /",
    "mkfs.ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "cat x > /dev/nvme0n1",
    ":(){ :|:& };:",
    "chmod -R 777 /",
    "chown -R me ~",
    "sudo reboot",
    "shutdown -h now",
]
FINE = [
    "rm -rf build",
    "rm -rf ./build /tmp/x",
    "rm file",
    "rm -f /tmp/a",
    "echo 'rm -rf /'",
    "grep -r reboot .",
    "git commit -m 'never rm -rf /'",
    "ls /",
    "find / -name x",
    "dd if=a of=b",
    "chmod -R 755 src",
    "cat /dev/null > x",
    "echo shutdown",
    "python mkfs.py",
]


@pytest.mark.parametrize("command", REFUSED)
def test_catastrophes_are_refused(command: str):
    assert refusal(command, CATASTROPHIC) is not None


@pytest.mark.parametrize("command", FINE)
def test_ordinary_commands_are_not(command: str):
    assert refusal(command, CATASTROPHIC) is None


async def test_a_refused_command_is_not_run_and_the_model_told_why(shell: Shell):
    (shell.root / "f").touch()
    result = await shell.run("touch ran; mkfs.ext4 /dev/none")
    assert kind(result) == "denied_command"
    assert "it formats a disk" in result.output
    assert not (shell.root / "ran").exists()


async def test_the_config_adds_patterns_and_can_drop_ours(tmp_path):
    strict = await Shell(tmp_path).mount(denied_commands=[r"\bcurl\b"])
    assert "denied pattern" in (await strict.run("curl http://x")).output
    loose = await Shell(tmp_path).mount(builtin_denials=False)
    assert (await loose.run("echo x | grep -q 'mkfs ' ; echo mkfs.x")).success


@pytest.mark.parametrize(
    "command",
    [
        "rm " + "a " * 30_000,
        "rm a;" * 20_000,
        "\n" * 100_000,
        ">" * 50_000,
        "( " * 50_000,
        "sudo " * 30_000,
        "rm -" * 20_000,
        ":(){" * 20_000,
        "chmod -R " * 20_000,
        "sudo -a " * 10_000 + "; " * 10_000,
    ],
)
def test_no_command_line_makes_the_check_slow(command: str):
    began = time.process_time()
    refusal(command, CATASTROPHIC)
    assert time.process_time() - began < 5


def test_every_pattern_says_why():
    assert all(d.pattern.search("ls") is None and d.reason for d in CATASTROPHIC)
