"""What hands do while questions come and go: random schedules for one user and one prompt."""

from random import Random
from typing import NamedTuple

SENTENCES = (
    "wait with that", "and then the tests", "add a test", "allow nothing", "dad said so",
    "delete the old one", "fix it first", "fad", "run it again", "rather not", "as before?",
    "just a moment", "keep going", "zap the cache", "All of them", "A few", "aaaa", "ad hoc",
    "a dry run", "d as well", "I would not", "what? no", "[x] done", "r a d", "étude, 東京",
)  # fmt: skip


class Step(NamedTuple):
    """One thing that happens.

    `kind`: wait (`seconds`), key, paste, ask, resolve, resize, blur, or `answer`: the user goes to
    the question, reads it and presses `text`.
    """

    kind: str
    text: str = ""
    seconds: float = 0.0


def schedule(chance: Random, length: int = 10) -> list[Step]:
    """Return a random schedule: typing at 3 to 20 keys a second, pauses, questions."""
    steps: list[Step] = []
    for _ in range(length):
        kind = chance.choice(
            ("type",) * 5 + ("ask",) * 3 + ("pause",) * 3
            + ("send", "clear", "burst", "paste", "resolve", "resize", "blur", "answer", "answer")
        )  # fmt: skip
        match kind:
            case "type":
                rate = chance.uniform(3, 20)
                text = chance.choice(SENTENCES)
                asked = chance.randrange(len(text)) if chance.random() < 0.4 else -1
                for at, letter in enumerate(text):
                    steps.append(Step("key", letter))
                    if at == asked:
                        steps.append(Step("ask"))
                    steps.append(Step("wait", seconds=chance.uniform(0.85, 1.15) / rate))
            case "burst":
                steps += [Step("key", letter) for letter in chance.choice(SENTENCES)]
            case "pause":
                steps.append(Step("wait", seconds=chance.uniform(0.1, 3)))
            case "send":
                steps.append(Step("key", "enter"))
            case "clear":
                steps.append(Step("key", "ctrl+u"))
            case "paste":
                steps.append(Step("paste", chance.choice((*SENTENCES, "a", "d", "a\n", "y\na\n"))))
            case "answer":
                steps.append(Step("answer", chance.choice("ad")))
            case _:
                steps.append(Step(kind))
    return steps
