from tests.e2e.acting import DIALOG_KEYS, STRIP, ask, decide, quit_program, ready
from tests.e2e.machine import Machine

EDIT = "edit_file wants to change"


def test_a_sentence_typed_while_a_question_comes_up_answers_nothing(machine: Machine) -> None:
    terminal = machine.start("--demo", columns=100, rows=30)
    ready(terminal, "demo")
    ask(terminal, "Why does a parcel of exactly 2 kg cost too much?")
    terminal.type("please ")
    terminal.wait_for(STRIP)
    (rates,) = machine.home.glob(".local/state/**/demo-project/parcels/rates.py")
    terminal.watch(2.0)
    assert terminal.shows(STRIP) and not terminal.shows(DIALOG_KEYS)

    for letter in "wait with that":
        terminal.type(letter)
        terminal.watch(0.1)
    terminal.wait_for("please wait with that")

    # The prompt is empty and the hands are still: the dialog opens by itself.
    terminal.press("ctrl+u")
    terminal.wait_for(DIALOG_KEYS)
    terminal.watch(0.6)
    terminal.type("and not that")
    terminal.wait_for("and not that")
    assert terminal.shows(STRIP) and not terminal.shows(DIALOG_KEYS)

    terminal.press("f8")
    terminal.wait_for(DIALOG_KEYS)
    terminal.watch(0.6)
    terminal.paste("a\na\n")
    terminal.wait_gone(DIALOG_KEYS)
    terminal.resize(80, 24)
    terminal.wait_for(STRIP)
    assert "weight < bracket.limit" in rates.read_text()

    decide(terminal, EDIT, "a")
    terminal.wait_until(lambda: "weight <= bracket.limit" in rates.read_text(), "the edit")
    decide(terminal, "bash wants to run a command", "d")
    terminal.wait_for("You denied")
    terminal.press("ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u", "ctrl+u")
    quit_program(terminal)


def test_bytes_that_are_no_utf8_end_nothing(machine: Machine) -> None:
    terminal = machine.start("--demo")
    ready(terminal, "demo")
    terminal.type("my draft ")
    terminal.write(b"\xff")
    terminal.write(b"\x1b[200~caf\xe9 latin1\x1b[201~")
    terminal.wait_for("my draft �caf� latin1")
    terminal.type(", and on")
    terminal.wait_for("latin1, and on")
    terminal.press("ctrl+u")
    quit_program(terminal)
