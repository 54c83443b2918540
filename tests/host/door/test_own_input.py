import subprocess
import sys

PROGRAM = """
import subprocess, sys
from amplifier_tui.host.door.descriptors import take_input
own = take_input()
subprocess.run(["cat"])
print("others:", sys.stdin.read())
print("own:", own.read().decode())
"""


def test_what_the_program_is_sent_reaches_neither_modules_nor_what_they_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="a prompt",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "others: \nown: a prompt\n"
