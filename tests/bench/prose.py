"""Text as models write it."""

import random

WORDS = str.split(
    "the retry loop waits for a clock that nobody moves so `backoff` sleeps **for real** and the "
    "test hangs until its timeout; see [the docs](https://example.org/a) for _why_ 漢字"
)


def prose(characters: int, source: random.Random) -> str:
    parts: list[str] = []
    size = 0
    while size < characters:
        words = " ".join(source.choices(WORDS, k=source.randint(8, 60)))
        kind = source.random()
        if kind < 0.1:
            words = (
                "```python\n" + "\n".join(f"x{n} = call({n})  # {n}" for n in range(12)) + "\n```"
            )
        elif kind < 0.2:
            words = "\n".join(f"{n}. {words[: 40 + n]}" for n in range(1, 7))
        elif kind < 0.27:
            rows = "\n".join(f"| row {n} | {n * 7} | {words[:20]} |" for n in range(8))
            words = f"| name | n | why |\n|---|--:|---|\n{rows}"
        elif kind < 0.32:
            words = f"## {words[:40]}"
        parts.append(words)
        size += len(words) + 2
    return "\n\n".join(parts)
