"""What is written past Python to the program's own descriptors never reaches the screen."""

import ast
import os
import subprocess
import sys

PROGRAM = """
import os, subprocess, sys, threading
from amplifier_tui.host.door.descriptors import DescriptorCapture

capture = DescriptorCapture()
capture.take()
os.write(1, b"early\\n")
lines, came = [], threading.Event()

def take(line):
    lines.append(line)
    if line == "last":
        came.set()

capture.pass_on(take)
print("from print")
sys.stdout.flush()
sys.stderr, kept = None, sys.stderr  # As a full screen takes it.

def fail():
    raise KeyError("a thread")

thread = threading.Thread(target=fail)
thread.start()
thread.join()
sys.stderr = kept
subprocess.run(["sh", "-c", "echo from a child; echo and its error >&2"])
os.write(2, b"x" * 5_000 + b"\\n")
os.write(1, b"\\xff\\xfe no text\\nlast\\n")
assert came.wait(20)
sys.__stdout__.write("<the screen>")
sys.__stdout__.flush()
capture.give_back()
capture.give_back()
print("afterwards")
sys.stderr.write(repr(lines))
"""


def test_lines_are_caught_and_the_screen_can_still_be_drawn_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "<the screen>afterwards\n"
    lines = ast.literal_eval(done.stderr)
    assert lines[:3] == ["early", "from print", "Traceback (most recent call last):"]
    end = lines.index("KeyError: 'a thread'") + 1
    assert lines[end : end + 2] == ["from a child", "and its error"]
    assert lines[end + 2 : -2] == ["x" * 2_000]
    assert lines[-2:] == ["\ufffd\ufffd no text", "last"]


def test_nothing_stays_open_when_it_is_over() -> None:
    from amplifier_tui.host.door.descriptors import DescriptorCapture

    before = os.fstat(1).st_ino, os.fstat(2).st_ino, sys.__stdout__, sys.__stderr__
    capture = DescriptorCapture()
    capture.take()
    capture.give_back()
    assert (os.fstat(1).st_ino, os.fstat(2).st_ino, sys.__stdout__, sys.__stderr__) == before
