"""Calls of the Linux kernel that a command in the sandbox is denied: those that reach keyrings.

A namespace of its own does not part a process from the keyring of the user's login session, where
keys of network file systems, tickets and passphrases lie. See keyrings(7) and seccomp(2).
"""

import errno
import os
import struct
from collections.abc import Sequence
from functools import cache
from typing import Final

_STEP: Final = struct.Struct("=HBBI")
_LOAD, _IS, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
"""Load a word, jump if it is equal, mask it, end: operations of a classic BPF program."""
_NUMBER, _MACHINE = 0, 4
"""Where these two stand in what the program is given (`struct seccomp_data`)."""
_ALLOW: Final = 0x7FFF0000
_DENY: Final = 0x00050000 | errno.ENOSYS
_NOT_X32: Final = 0xBFFFFFFF
"""A program for x32 sets this bit in each number."""
_DESCRIPTOR: Final = "9"
"""The highest that every shell can open."""
_NUMBERS: Final = {
    0xC000003E: (248, 249, 250),  # x86-64
    0x40000003: (286, 287, 288),  # x86
    0xC00000B7: (217, 218, 219),  # AArch64
    0x40000028: (309, 310, 311),  # ARM
    0xC00000F3: (217, 218, 219),  # RISC-V, 64 bits
    0xC0000015: (269, 270, 271),  # POWER, little endian
    0x80000016: (278, 279, 280),  # z/Architecture
}
"""`add_key`, `request_key` and `keyctl`, by the machine as the kernel names it."""


def without_keyrings() -> bytes:
    """Return the program that decides about each call, as seccomp(2) takes it.

    The calls that reach keyrings fail with `ENOSYS`, as in a kernel that has none; others go on, as
    do all on a machine whose numbers are not known here.
    """
    steps = b""
    for machine, numbers in _NUMBERS.items():
        tests = b"".join(
            _step(_IS, number, len(numbers) - place) for place, number in enumerate(numbers)
        )
        block = _step(_LOAD, _NUMBER) + _step(_AND, _NOT_X32) + tests
        block += _step(_RETURN, _ALLOW) + _step(_RETURN, _DENY)
        steps += _step(_LOAD, _MACHINE) + _step(_IS, machine, 0, len(block) // _STEP.size) + block
    return steps + _step(_RETURN, _ALLOW)


def _step(operation: int, value: int, matching: int = 0, other: int = 0) -> bytes:
    """Return one operation; the last two say how many of the next are left out."""
    return _STEP.pack(operation, matching, other, value)


def filtered(bubblewrap: str, options: Sequence[str]) -> list[str]:
    """Return the line that starts bubblewrap with the program of `without_keyrings`.

    Bubblewrap reads it from a descriptor, which a shell opens for it: what starts the line need
    not know.

    Args:
        bubblewrap: The program.
        options: Its own, and the command that it runs.

    Raises:
        OSError: There is no room for it in memory.
    """
    # It lies in memory, where nothing can change it; each reader has an offset of its own.
    path = f"/proc/{os.getpid()}/fd/{_held()}"
    opening = f'exec "$@" {_DESCRIPTOR}<"$0"'
    return ["/bin/sh", "-c", opening, path, bubblewrap, "--seccomp", _DESCRIPTOR, *options]


@cache
def _held() -> int:
    # Not every system has it, and this file is imported on all.
    import fcntl

    held = os.memfd_create("amplifier-tui-filter", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(held, without_keyrings())
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(held, fcntl.F_ADD_SEALS, seals)
    return held
