"""Which calls of the kernel a command in the sandbox is denied."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.base.commands.calls import without_keyrings

X86_64, AARCH64 = 0xC000003E, 0xC00000B7
ALLOWED, DENIED = 0x7FFF0000, 0x00050000 | errno.ENOSYS
STEP = struct.Struct("=HBBI")


def decided(machine: int, number: int) -> int:
    """Run the program as the kernel does, for one call."""
    steps = list(STEP.iter_unpack(without_keyrings()))
    at, held = 0, 0
    while True:
        operation, matching, other, value = steps[at]
        at += 1
        if operation == 0x20:
            held = {0: number, 4: machine}[value]
        elif operation == 0x54:
            held &= value
        elif operation == 0x15:
            at += matching if held == value else other
        else:
            assert operation == 0x06
            return int(value)


@pytest.mark.parametrize(
    ("machine", "number"),
    [(X86_64, 248), (X86_64, 249), (X86_64, 250), (AARCH64, 217), (AARCH64, 219)],
)
def test_calls_that_reach_keyrings_are_denied(machine: int, number: int) -> None:
    assert decided(machine, number) == DENIED


def test_the_other_numbers_of_one_machine_do_not_go_round_it() -> None:
    assert decided(X86_64, 250 | 0x40000000) == DENIED, "x32"
    assert decided(0x40000003, 288) == DENIED, "32 bits"


@given(
    machine=st.sampled_from([X86_64, AARCH64]) | st.integers(0, 2**32 - 1),
    number=st.integers(0, 216) | st.integers(220, 247) | st.integers(320, 0x3FFFFFFF),
)
def test_all_others_are_allowed_on_every_machine(machine: int, number: int) -> None:
    assert decided(machine, number) == ALLOWED
