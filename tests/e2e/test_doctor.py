import re

import pytest

from tests.e2e.machine import Machine

pytestmark = pytest.mark.e2e


def test_in_a_fresh_home_the_doctor_says_what_to_do_on_a_small_screen(machine: Machine) -> None:
    terminal = machine.start("doctor", columns=80, rows=24)
    # The emulator does not answer what it is asked about its keys.
    terminal.wait_for(re.compile(r"\d+ to mend, \d+ to know"))
    assert terminal.wait_end() == 0
    assert "ANTHROPIC_API_KEY not set" in terminal.printed
