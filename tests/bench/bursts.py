"""Random bursts of keys, clicks, pastes and sizes: the program goes on, and its prompt takes words.

The real program in a pty with an emulated screen, against a loopback server with answers, tool
calls, questions and failures. Every forty bursts it is led back to its prompt, where what is typed
must be seen. What was sent to a program that ended, or no longer listens, is written to a file.
`python -m tests.bench.bursts SEED …` plays runs, these or others.
"""

import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from amplifier_tui.ui.keys.actions import ACTIONS
from tests.bench.program import machine
from tests.bench.table import Row
from tests.e2e.machine import Machine
from tests.e2e.terminal import _KEYS as NAMED
from tests.e2e.terminal import Terminal
from tests.e2e.vendors import lead_to
from tests.servers import Cut, Failure, LoopbackServer, Script, Text, Thinking, ToolUse, reply
from tests.servers.asked import last_user, tool_results

"""Of the first run."""
RUNS = 8
QUICK = 2
BURSTS = 200
CHECKED = 40
"""Bursts after which the prompt must take words."""
LISTENS = 20.0
"""Seconds in which it must."""
ENDED = (0, -9)
"""How a program may end: by a key, or killed here."""

SIZES = ((80, 24), (120, 36), (60, 16), (40, 12), (200, 50), (20, 6), (1, 1), (300, 80))
STARTS = ((), (), ("--demo",), ("--resume",), ("--mode", "edits"), ("--theme", "contrast"))
KEPT = [each for each in ACTIONS if each.id not in ("app.quit", "app.suspend")]
COMMANDS = [each.commands[0] for each in KEPT if each.commands]
CHORDS = [each.chord for each in KEPT if len(each.chord) == 1]
LETTERS = "adefrzynwxoubcil/jk 123?hgsmtpqv"
QUESTION = {"question": "Which one?", "header": "One", "options": [{"label": "A"}, {"label": "B"}]}
ANSWERS: dict[str, Any] = {
    "hello": reply("A short answer with **bold** and `code`.", pace=0.01),
    "long": reply("Many words of an answer, `code` among them. " * 60, pace=0.01),
    "slow": reply("One word after the other. " * 40, pace=0.1),
    "think": reply(Thinking("First this, then that. " * 20), "So it is.", pace=0.01),
    "read": reply("I read.", ToolUse("read_file", {"file_path": "app.py"})),
    "write": reply("I write.", ToolUse("write_file", {"file_path": "a.py", "content": "x = 1\n"})),
    "run": reply("I run.", ToolUse("bash", {"command": "sleep 1; echo done"})),
    "ask": reply("I ask.", ToolUse("ask_user", {"questions": [QUESTION]})),
    "agent": reply("I ask.", ToolUse("task", {"agent": "explorer", "instruction": "look"})),
    "odd": reply("[bold]no[/] \x1b[31mred \u202eright\u202c 日本語 e\u0301 " + "x" * 300),
    "busy": Failure("rate_limited", retry_after=3),
    "cut": reply(Text(["It begins ", "well and ", Cut()])),
}
PASTES = ("short", "a\nb\nc\n", "line\n" * 500, "y" * 20_000, "\x1b[31m evil\x07")


def answer(request: dict[str, Any]) -> Any:
    """Answer by the last word of the prompt that is known; results of tools with a sentence."""
    words = last_user(request).split()
    known = next((word for word in reversed(words) if word in ANSWERS), "")
    return "That is done." if tool_results(request) or not known else ANSWERS[known]


def burst(terminal: Terminal, chance: random.Random) -> None:
    """Send one burst."""
    kind, named = chance.random(), list(NAMED.values())
    if kind < 0.25:
        text = chance.choice([*ANSWERS, "@app", "!ls", "two\nlines", "日本語 🎉 e\u0301"])
        terminal.type(text + "\r" * (chance.random() < 0.8))
    elif kind < 0.4:
        terminal.type("/" + chance.choice(COMMANDS))
        terminal.watch(chance.choice((0, 0.1)))
        terminal.type("\r")
    elif kind < 0.5:
        terminal.type("\x18" + chance.choice([*LETTERS, *CHORDS]))
    elif kind < 0.75:
        control = [chr(ord(letter) - 96) for letter in "abefghklnoprtuwxyz"]
        keys = [*named, *control, *LETTERS] if chance.random() < 0.6 else named
        terminal.type("".join(chance.choices(keys, k=chance.choice((1, 1, 2, 3, 6, 12)))))
    elif kind < 0.9:
        for _ in range(chance.choice((1, 2, 3))):
            at = f"{chance.randint(1, terminal.columns)};{chance.randint(1, terminal.rows)}"
            button = chance.choice((0, 0, 0, 2, 64, 65))
            press, drag = f"\x1b[<{button};{at}M", f"\x1b[<32;{at}M" * (chance.random() < 0.2)
            terminal.type(press * 5 if button > 2 else f"{press}{drag}\x1b[<{button};{at}m")
    elif kind < 0.95:
        odd = (chance.randint(2, 160), chance.randint(2, 60))
        terminal.resize(*chance.choice([*SIZES, odd]))
    else:
        terminal.paste(chance.choice(PASTES))
    terminal.watch(chance.choice((0, 0, 0.02, 0.05, 0.2, 0.5, 1.0)))


def listens(terminal: Terminal, word: str) -> bool:
    """Go back to the prompt and type; return whether that is seen, or the program was ended."""
    terminal.resize(90, 28)
    for _ in range(10):
        terminal.press("escape")
    terminal.type("\x15")
    terminal.watch(0.3)
    terminal.type(word)
    until = time.monotonic() + LISTENS
    while not terminal.ended and not terminal.shows(word) and time.monotonic() < until:
        terminal.watch(0.2)
    seen = terminal.ended or terminal.shows(word)
    terminal.type("\x15")
    return seen


def play(seed: int) -> list[str]:
    """Play a run; return what went wrong, each with the file that says what was sent."""
    chance = random.Random(seed)
    wrong: list[str] = []
    with machine() as home, LoopbackServer(Script(otherwise=answer), strict=False) as server:
        lead_to(server, home, "anthropic")
        home.env |= {"EDITOR": "true", "PAGER": "true"}
        home.file("app.py", "def add(a, b):\n    return a - b\n")
        left = BURSTS
        while left > 0:
            left = _window(home, chance, left, seed, wrong)
    return wrong


def _window(home: Machine, chance: random.Random, left: int, seed: int, wrong: list[str]) -> int:
    columns, rows = chance.choice(SIZES[:5])
    with home.start(*chance.choice(STARTS), columns=columns, rows=rows) as terminal:
        terminal.watch(2.5)
        problem = ""
        while left > 0 and not terminal.ended and not problem:
            try:
                burst(terminal, chance)
            except OSError:  # It ended while it was written to.
                terminal.watch(0.1)
                break
            left -= 1
            if not left % CHECKED and not terminal.ended and not listens(terminal, f"zq{left}"):
                problem = "does not listen any more"
        if not problem and terminal.ended and (status := terminal.reap(20)) not in ENDED:
            problem = f"ended with {status}"
        if problem:
            folder = Path(tempfile.gettempdir())
            note = folder / f"bursts-{seed}-{left}.txt"
            note.write_text(
                f"{problem}\n{terminal.text}\n{terminal.printed[-2000:]}\n{terminal.sent[-100:]}"
            )
            wrong.append(f"seed {seed}: {problem} ({note})")
    return left


def measure(quick: bool) -> list[Row]:
    """Return the row: how often the program ended or stopped listening."""
    runs = QUICK if quick else RUNS
    wrong: list[str] = []
    # Others each time.
    start = secrets.randbelow(1 << 32)

    def one(seed: int) -> list[str]:
        out = subprocess.run(
            [sys.executable, "-m", "tests.bench.bursts", str(seed)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return out.stdout.splitlines()

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(one, range(start, start + runs)):
            wrong += found
    return [
        Row(
            what="ends and silences after random bursts",
            value=len(wrong),
            unit="",
            goal=0,
            how=f"{runs * BURSTS:,} bursts of keys, clicks, pastes and sizes in {runs} homes, "
            f"from seed {start}",
            remark="; ".join(wrong)[:500],
        )
    ]


if __name__ == "__main__":
    for number in sys.argv[1:]:
        for problem in play(int(number)):
            print(problem, flush=True)
